import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** As `npm run verify` names them at its end: of `npm run test:long`, then of `npm test`. */
const SLOWEST = [
  'e2e/worker.long',
  'hostile/secrets.long',
  'e2e/worker-changes.long',
  'team/workers.long',
  'store/disk-refuses.long',
  'hostile/bombs.long',
  'hostile/reports.long',
  'e2e/rollback-stores.long',
  'team/put-back.long',
  'e2e/drill-scenarios.long',
  'team/team.long',
  'audit/bundle/attacks.long',
  'e2e/drill-sabotaged.long',
  'store/clock.long',
  'e2e/drill.long',
  'e2e/foreign-platform-trouble.long',
  'e2e/in-place.long',
  'e2e/recoveries-by-hand.long',
  'tui/walker.long',
  'hostile/inputs.long',
  'e2e/v0.long',
  'e2e/signals-lab.long',
  'hostile/secrets-screen.long',
  'e2e/drill-screen.long',
  'docs/documented-commands.long',
  'e2e/foreign-platform-cf.long',
  'e2e/recoveries-lost.long',
  'store/postgres/postgres',
  'machines/recovery-paths',
  'view/fallback-hostile',
  'tui/layout',
  'hostile/fallback-scripts',
  'e2e/rotate',
  'plain/asking-recovery',
  'tui/pty',
  'e2e/moving-time',
  'approvals/gate',
  'store/postgres/leases',
  'backup/tar-walker',
  'e2e/keys-kept',
  'e2e/rollback',
  'e2e/recoveries',
  'plain/show-run-plainly',
  'audit/bit-flips',
  'e2e/downloads',
  'lab/engine/engine',
  'activities/waits',
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
