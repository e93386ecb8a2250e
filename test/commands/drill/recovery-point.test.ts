import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ChapterProof, recoveryPointOf } from '../../../src/commands/drill/chapter.ts';
import { drillReport } from '../../../src/commands/drill/drill-report.ts';
import { measuresOfRun } from '../../../src/commands/run/run-report.ts';
import type { Entry } from '../../../src/store/journal.ts';

/** A recorded run. */
const RECOVERY = readFileSync(
  join(import.meta.dirname, '../../histories/disaster-recovery-2/disaster-recovery-perform-r62.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Entry);

const PROOF: ChapterProof = {
  runbook: 'restore-backup',
  title: 'somebody deletes all orders',
  instance: 'orders',
  runIds: ['01R'],
  proven: true,
  verdict: 'restored',
  checks: [],
  tables: [],
  measures: {},
  facts: {},
  files: [],
};

test('the recovery point of a chapter is the one in the report of its run', () => {
  const lostMs = measuresOfRun('disaster-recovery', RECOVERY)?.point?.lostMs ?? Number.NaN;
  expect(recoveryPointOf('disaster-recovery', RECOVERY)).toEqual({
    rpoSeconds: lostMs / 1000,
    rpoHow: 'from the moment that the service restored to the start of the run',
  });
  expect(recoveryPointOf('disaster-recovery', RECOVERY.slice(0, 3))).toEqual({});
});

test('the loss that the drill counts in rows has a name of its own, and is compared with no objective', () => {
  const measures = {
    ...{ rpoSeconds: 3.7, rpoHow: 'from the chosen moment to the incident' },
    ...{ rowsLostSeconds: 0.1, rowsLostHow: 'from the chosen moment to the DELETE' },
  };
  const text = drillReport({ ...PROOF, measures }, { orders: { objectives: { rpo: 900_000 } } });
  expect(text).toContain('- RPO: 3.7 s (objective 15 min: met), from the chosen moment to the incident\n');
  expect(text).toContain('- data lost, measured on rows: 0.1 s, from the chosen moment to the DELETE\n');
  expect(text.match(/RPO/gu)).toHaveLength(1);
});
