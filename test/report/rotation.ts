import { canonicalBody, hashOf } from '../../src/store/canonical.ts';
import type { Entry, NewEntry } from '../../src/store/journal.ts';
import { runEntry } from '../../src/store/run-entries.ts';

const failure = (code: string, shortMessage: string) => ({ code, shortMessage });

const written: NewEntry[] = [
  runEntry('01J', 'run.started', {
    runbook: 'rotate-key',
    version: '1.0.0',
    instance: 'orders',
    input: {},
    mode: 'LIVE',
    tool: { name: 'lifeboat', version: '0.1.0', node: '24.21.0' },
    operator: 'Ada',
  }),
  runEntry('01J', 'event', { event: { type: 'xstate.init' }, to: 'generate', title: 'Make the new key' }),
  runEntry('01J', 'activity.begun', {
    activity: 'generate',
    verb: 'keys.generate',
    kind: 'read',
    key: 'g',
    input: null,
  }),
  runEntry('01J', 'run.resumed', { pid: 4242 }),
  runEntry('01J', 'intent.prepared', { intent: 'i1', verb: 'backup.create', baseline: [] }),
  runEntry('01J', 'intent.armed', { intent: 'i1', verb: 'backup.create' }),
  runEntry('01J', 'intent.outcome', {
    intent: 'i1',
    verb: 'backup.create',
    sent: 'unknown',
    failure: failure('service.timeout', 'no answer within 30 s'),
  }),
  runEntry('01J', 'intent.judged', { intent: 'i1', verb: 'backup.create', verdict: 'landed' }),
  runEntry('01J', 'run.paused', {
    reason: 'credentials',
    failure: failure('credentials.refused', 'the token was refused'),
  }),
  runEntry('01J', 'answer', {
    event: 'SKIP',
    label: 'Skip the negative test',
    reason: 'the old key <b>is gone</b> | really',
  }),
  runEntry('01J', 'run.detached', { why: 'SIGHUP' }),
  runEntry('01J', 'run.closed', {
    outcome: 'key rotated',
    proven: true,
    summary: [
      { label: 'Old key', value: '0a1b2c3d4e5f' },
      { label: 'New key', value: '5f4e3d2c1b0a', tone: 'good' },
    ],
    deviations: [{ step: 'negative test', reason: 'the old key is gone' }],
  }),
];

/** A whole run of the runbook rotate-key, one entry a minute. */
export const rotation: readonly Entry[] = written.map(({ stream, type, body }, index) => {
  const at = new Date(Date.parse('2026-01-02T03:00:00Z') + index * 60_000).toISOString();
  const row = { index: index + 1, stream, seq: index + 1, at, by: 'ada', type };
  return { ...row, body, hash: hashOf({ ...row, body: canonicalBody(body, 'body') }) };
});
