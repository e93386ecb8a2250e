import { expect, test } from 'vitest';
import type { AnyActivity } from '../../src/activities/activity.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import type { Failure } from '../../src/base/failure.ts';
import { perform } from '../../src/runner/perform.ts';
import type { Note } from '../../src/runner/performed.ts';
import type { Entry } from '../../src/store/journal.ts';
import { contextOf } from '../activities/world.ts';

const INVOCATION = { id: 'reconnect', verb: 'reconnectApp', input: { app: { name: 'orders-api' } } };
const context = { ...contextOf(() => new Date(0)), mayLeave: () => undefined } as never;

/** A run's journal, and a command that counts its executions. */
function world(entries: readonly object[] = []) {
  const written = [...entries] as unknown as Entry[];
  let runs = 0;
  let refusal: Failure | undefined;
  const activity: AnyActivity = {
    kind: 'attended',
    run: async () => {
      runs += 1;
      return { ok: true, output: {} };
    },
  };
  const port = {
    write: async (notes: readonly Note[]) => void written.push(...(notes as unknown as Entry[])),
    entries: () => written,
    lastForCall: async () => undefined,
    mayArm: async () => refusal,
    seal: async () => undefined,
    sleep: async () => undefined,
  };
  return {
    runs: () => runs,
    written,
    refuse: (code: string) => {
      refusal = new LifeboatError(code, 'not now').toFailure();
    },
    perform: () => perform(activity, INVOCATION, context, port),
  };
}

const BEGUN = { type: 'activity.begun', body: { activity: 'reconnect' } };
const MOVED = { type: 'event', body: {} };

test('a command is run only after its beginning is on record', async () => {
  const { perform: go, runs, written } = world([MOVED]);
  expect(await go()).toMatchObject({ how: 'done' });
  expect(runs()).toBe(1);
  expect(written.at(-1)).toMatchObject({ type: 'activity.begun', body: { kind: 'attended' } });
});

test('a command begun before the process ended is not run again: a person decides', async () => {
  const { perform: go, runs } = world([MOVED, BEGUN, { type: 'run.resumed', body: {} }]);
  expect(await go()).toMatchObject({ how: 'failed', failure: { code: 'activity.lost' } });
  expect(runs()).toBe(0);
});

test('a command that a person has requested again is run', async () => {
  const { perform: go, runs } = world([BEGUN, MOVED]);
  expect(await go()).toMatchObject({ how: 'done' });
  expect(runs()).toBe(1);
});

test('a command is not begun if a call may not be armed', async () => {
  const { perform: go, runs, written, refuse } = world([MOVED]);
  refuse('approval.expired');
  expect(await go()).toMatchObject({ how: 'failed', failure: { code: 'approval.expired' } });
  expect([runs(), written.length]).toEqual([0, 1]);
});
