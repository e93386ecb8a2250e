import { runEntry } from '../../src/store/run-entries.ts';

const mark = { intent: 'i1', verb: 'restoreBackup' };
/** A call of `run/a` that is armed. */
export const armed = [
  runEntry('a', 'run.started', {
    ...{
      runbook: 'restore-backup',
      version: '1',
      instance: 'orders',
      input: {},
      mode: 'LIVE',
      operator: 'Robin',
    },
    tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
  }),
  runEntry('a', 'activity.begun', {
    activity: 'restore',
    verb: mark.verb,
    kind: 'once',
    key: 'i1',
    input: mark,
  }),
  runEntry('a', 'intent.prepared', { ...mark, baseline: null }),
  runEntry('a', 'intent.armed', mark),
];
/** What became of it. */
export const outcome = (sent: string) =>
  ({ stream: 'run/a', type: 'intent.outcome', body: { intent: 'i1', verb: 'restoreBackup', sent } }) as const;
