import type { DrillChapter, DrillRecord } from '../../../src/report/drill/drill-report.ts';

/** A chapter in which everything held. */
export const chapter: DrillChapter = {
  runbook: 'rotate-key',
  title: 'rotate the key and prove a backup',
  instance: 'orders',
  runIds: ['01R'],
  outcome: 'proven',
  seconds: 12.5,
  checks: [{ what: 'every order is the sum of its lines', holds: true }],
  tables: [{ name: 'orders', rows: 120, equal: true }],
  rtoSeconds: 4,
  rpoSeconds: 2,
  objectives: { rtoSeconds: 300, rpoSeconds: 900 },
};

/** A proven drill that began, and ended, at this time. */
export function drillAt(at: string, more: Partial<DrillRecord> = {}): DrillRecord {
  const id = `${at.slice(0, 10).replaceAll('-', '')}-${at.slice(11, 19).replaceAll(':', '')}`;
  return {
    schema: 'lifeboat.drill/1',
    id,
    scope: 'full',
    revision: '62',
    version: '1.0.0',
    begunAt: at,
    endedAt: at,
    outcome: 'proven',
    chapters: [chapter],
    ...more,
  };
}
