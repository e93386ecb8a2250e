import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** As `npm run verify` names them at its end. */
const SLOWEST = [
  'hostile/inputs',
  'hostile/secrets',
  'e2e/foreign-platform-cf',
  'store/disk-refuses',
  'store/clock',
  'team/team',
  'e2e/foreign-platform-trouble',
  'hostile/secrets-screen',
  'e2e/recoveries-by-hand',
  'e2e/v0',
  'e2e/service-commands',
  'e2e/in-place',
].map((name) => `/test/${name}.long.test.ts`);

/**
 * Begins with the slowest files, so that none of them is left alone at the end. A fresh checkout has no times
 * to go by.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOWEST.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? SLOWEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
