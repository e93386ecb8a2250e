import { expect, test } from 'vitest';
import { callOf, verbDid, verbTo, WORDED } from '../../machines/parts/verb-words.ts';
import { effectOf, VERBS, type Verb } from '../../machines/verbs.ts';
import type { Activities, ActivityOf } from '../../src/activities/activity.ts';
import { operationAt } from '../../src/service/revisions.ts';

const names = Object.keys(VERBS) as Verb[];

test('every verb that is sent at most once changes an instance', () => {
  const harmless = names.filter((verb) => VERBS[verb].kind === 'once' && VERBS[verb].effect === 'none');
  expect(harmless).toEqual([]);
});

test('a verb that only reads changes at most files of this machine', () => {
  const effects = new Set(names.filter((verb) => VERBS[verb].kind === 'read').map(effectOf));
  expect(effects).toEqual(new Set(['none', 'download']));
});

test('the table of verbs tells which calls restore, act on the instance, change the key or only add a backup', () => {
  const verbsWith = (effect: string) => names.filter((verb) => effectOf(verb) === effect).toSorted();
  expect(verbsWith('restore')).toEqual(['performRecovery', 'restoreBackup', 'restoreToTime']);
  expect(verbsWith('instance')).toEqual(['recreate', 'restart', 'update']);
  expect(verbsWith('key')).toEqual(['prepareRecovery', 'setKey']);
  expect(verbsWith('backup')).toEqual(['createBackup']);
});

test('an unknown verb in a journal has no effect that could be taken for harmless', () => {
  expect(effectOf('dropDatabase')).toBeUndefined();
  expect(effectOf('toString')).toBeUndefined();
});

test('an activity with another kind, input or output than its verb does not compile', () => {
  const never = () => Promise.reject(new Error('never performed'));
  const recheck: ActivityOf<'recheck'> = { kind: 'read', run: never };
  // @ts-expect-error recheck reads
  const otherKind: ActivityOf<'recheck'> = { kind: 'repeatable', run: never };
  const otherInput: ActivityOf<'recheck'> = {
    kind: 'read',
    // @ts-expect-error recheck is given no id
    run: (_: { instance: string; id: number }) => never(),
  };
  const otherOutput: ActivityOf<'recheck'> = {
    kind: 'read',
    // @ts-expect-error recheck gives the baseline
    run: async () => ({ ok: true, output: { id: 1 } }),
  };
  // @ts-expect-error the other verbs have no activity
  const missing: Activities = { recheck };
  expect([otherKind, otherInput, otherOutput, missing]).toHaveLength(4);
});

test('every verb has words, and nothing else does', () => {
  expect(WORDED.toSorted()).toEqual(names.toSorted());
});

test('exactly the verbs that are sent once to the service name a call, which is the one of that name in its table', () => {
  for (const verb of names) {
    if (VERBS[verb].effect === 'outside') continue;
    const [method, path] = callOf(verb, { backup: 7 })?.split(' ') ?? [];
    expect(method !== undefined, verb).toBe(VERBS[verb].kind === 'once');
    if (method !== undefined)
      expect(operationAt(method as 'POST', path?.replace('/7/', '/:id/') ?? ''), verb).toBe(verb);
  }
});

test('a verb names what its input does, and leaves it out where the input is not known', () => {
  expect(verbTo('unbindApp', { app: { name: 'orders-api' } })).toBe('unbind application orders-api');
  expect(verbTo('unbindApp')).toBe('unbind the application');
  expect(verbDid('verifyBackup', { backup: 7 })).toBe('verified backup 7');
  expect(callOf('restoreBackup', { backup: 7 })).toBe('POST /backups/7/restore');
  expect(callOf('restoreBackup')).toBeUndefined();
  expect(verbTo('dropDatabase')).toBe('drop database');
  expect(verbTo('toString')).toBe('to string');
});
