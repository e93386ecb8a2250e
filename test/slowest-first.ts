import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** As `npm run verify` names them at its end: of `npm run test:long`, then of `npm test`. */
const SLOWEST = [
  'hostile/secrets.long',
  'team/team.long',
  'e2e/rollback-stores.long',
  'hostile/bombs.long',
  'e2e/v0.long',
  'e2e/recoveries-by-hand.long',
  'docs/documented-commands.long',
  'store/disk-refuses.long',
  'e2e/foreign-platform-trouble.long',
  'e2e/in-place.long',
  'hostile/inputs.long',
  'e2e/foreign-platform-cf.long',
  'store/clock.long',
  'store/storage-images.long',
  'e2e/drill.long',
  'hostile/secrets-screen.long',
  'e2e/service-commands.long',
  'e2e/recoveries',
  'e2e/flags',
  'store/postgres/postgres',
  'audit/tampering',
  'e2e/rotate',
  'hostile/fallback-scripts',
  'view/fallback-hostile',
  'architecture',
  'machines/recovery-paths',
  'e2e/moving-time',
  'e2e/keys-kept',
  'e2e/rollback',
  'audit/bit-flips',
  'tui/pty',
  'tui/layout',
].map((name) => `/test/${name}.test.ts`);

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
