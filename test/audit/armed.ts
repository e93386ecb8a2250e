import { runEntry } from '../../src/store/run-entries.ts';

export const mark = { intent: 'i1', verb: 'restoreBackup' };

/** The first entry of a run that restores a backup. */
export const started = (run: string) =>
  runEntry(run, 'run.started', {
    runbook: 'restore-backup',
    version: '1',
    instance: 'orders',
    input: {},
    mode: 'LIVE',
    operator: 'Robin',
    tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
  });

/** Its call, up to the point where nothing has been sent yet. */
export const prepared = (run: string) => [
  runEntry(run, 'activity.begun', {
    activity: 'restore',
    verb: mark.verb,
    kind: 'once',
    key: 'i1',
    input: mark,
  }),
  runEntry(run, 'intent.prepared', { ...mark, baseline: null }),
];

/** A call of `run/a` that is armed. */
export const armed = [started('a'), ...prepared('a'), runEntry('a', 'intent.armed', mark)];

/** Its outcome. */
export const outcome = (sent: string) =>
  ({ stream: 'run/a', type: 'intent.outcome', body: { ...mark, sent } }) as const;
