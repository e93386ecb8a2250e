import { expect, test } from 'vitest';
import { lostCallEntries } from '../../src/runner/lost-calls.ts';
import type { Entry, Json, StreamName } from '../../src/store/journal.ts';
import type { LostCall } from '../../src/store/log/rollback.ts';
import { doubtsOfStream } from '../../src/store/projections/pending-calls.ts';

const AT = '2026-03-01T03:00:00.000Z';
const entry = (stream: StreamName, seq: number, type: string, body: Json): Entry => {
  return { index: seq, stream, seq, at: '2026-03-02T00:00:00.000Z', by: 'robin', type, body, hash: '' };
};
const lost = (call: Partial<LostCall>): LostCall => {
  return {
    stream: 'run/01J',
    instance: 'orders',
    verb: 'restoreBackup',
    intent: 'restore-1',
    at: AT,
    isOpen: true,
    ...call,
  };
};
const doubtsAfter = (call: LostCall, entries: readonly Entry[]) => {
  const written = lostCallEntries(call, entries);
  return doubtsOfStream(
    'instance/orders',
    written.map(({ stream, type, body }, at) => entry(stream, at + 1, type, body)),
  );
};

test('a lost call without remaining entries counts as in doubt from when it was armed', () => {
  expect(doubtsAfter(lost({}), [])).toMatchObject([
    { intent: 'lost-01J-restore-1', verb: 'restoreBackup', armedAt: AT, input: {}, baseline: { lost: true } },
  ]);
});

test('what the run recorded before the loss is kept: its input, and what the service showed before', () => {
  const baseline = { tasks: [[1, 2]], underWay: [], skew: null };
  const entries = [
    entry('run/01J', 1, 'activity.begun', {
      key: 'restore-1',
      verb: 'restoreBackup',
      input: { intent: 'restore-1', on: 'target', backup: 3 },
    }),
    entry('run/01J', 2, 'intent.prepared', { intent: 'restore-1', verb: 'restoreBackup', baseline }),
  ];
  expect(doubtsAfter(lost({}), entries)).toMatchObject([{ input: { backup: 3 }, baseline }]);
});

test('a call of a single command keeps its input, under a unique name', () => {
  const entries = [
    entry('instance/orders', 1, 'call.begun', {
      call: 'call-7',
      verb: 'restoreBackup',
      input: { backup: 3 },
    }),
  ];
  expect(doubtsAfter(lost({ stream: 'instance/orders', intent: 'call-7' }), entries)).toMatchObject([
    { intent: 'lost-call-7', input: { backup: 3 }, baseline: { lost: true } },
  ]);
});

test('a lost call that was sent before, and refused, counts from its first arming, wherever that is recorded', () => {
  const earlier = '2026-03-01T02:50:00.000Z';
  const mark = { intent: 'restore-1', verb: 'restoreBackup' };
  const entries = [
    entry('run/01J', 1, 'intent.prepared', { ...mark, baseline: [] }),
    entry('run/01J', 2, 'intent.armed', { ...mark, armedAt: earlier }),
  ];
  const known = { armedAt: AT, firstArmedAt: earlier };
  expect(doubtsAfter(lost({}), entries)).toMatchObject([known]);
  expect(doubtsAfter(lost({ firstAt: earlier }), [])).toMatchObject([known]);
});
