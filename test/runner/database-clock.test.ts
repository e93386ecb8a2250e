import { describe, expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import type { ActivityContext, InDoubt } from '../../src/activities/activity.ts';
import { timelineOf } from '../../src/report/measure/timeline.ts';
import { outcomesOf } from '../machines/outcomes.ts';
import { answerToTheChange, LOST, landed, makeWorld, obedient, sending } from './world.ts';

const MINUTE = 60_000;
const rotateKey = runbooks['rotate-key'] as Runbook;

const outcomeOf = (verb: string) => (outcomesOf(verb)[0] as { readonly output: unknown }).output;

/** A backup with this end, and the facts that it is judged by. */
function judged(send: () => Promise<unknown>) {
  const memories: InDoubt[] = [];
  const judge = (async (_: unknown, memory: InDoubt) => {
    memories.push(memory);
    return { verdict: 'landed', output: landed(9).output, evidence: {} };
  }) as never;
  return { memories, createBackup: sending(send, judge) };
}

function expectOurs(at: string | undefined, sinceMs: number) {
  expect(Date.parse(at ?? '')).toBeGreaterThanOrEqual(sinceMs);
  expect(Date.parse(at ?? '')).toBeLessThanOrEqual(Date.now());
}

describe.for([-20, 20])('with a database whose clock is %i minutes ahead of this machine', (minutes) => {
  const worldWith = (changes: Parameters<typeof obedient>[0]) =>
    makeWorld(obedient(changes), rotateKey, minutes * MINUTE);

  test("a lost answer is judged by this machine's times of arming and losing the call", async () => {
    const { memories, createBackup } = judged(async () => LOST);
    const world = await worldWith({ createBackup });
    const since = Date.now();
    const run = await world.takeUp();
    await answerToTheChange(run);
    await run.ended;
    expect(memories).toHaveLength(1);
    expectOurs(memories[0]?.armedAt, since);
    expectOurs(memories[0]?.lostAt, since);
  });

  test('a call whose process died counts as lost from when this machine took it up', async () => {
    const { promise: sent, resolve: arrived } = Promise.withResolvers<void>();
    const { memories, createBackup } = judged(() => {
      arrived();
      return new Promise(() => undefined);
    });
    const world = await worldWith({ createBackup });
    const dying = await world.takeUp();
    const sinceArmed = Date.now();
    await answerToTheChange(dying);
    await sent;
    await dying.detach();
    const sinceTaken = Date.now();
    await (await world.takeUp()).ended;
    expect(memories).toHaveLength(1);
    expectOurs(memories[0]?.armedAt, sinceArmed);
    expectOurs(memories[0]?.lostAt, sinceTaken);
  });

  test('waits know their beginning by the clock of this machine', async () => {
    const contexts: ActivityContext[] = [];
    const times: (string | undefined)[] = [];
    const world = await worldWith({
      waitForBackup: {
        kind: 'read',
        run: async (_input: never, context: ActivityContext) => {
          contexts.push(context);
          times.push(context.begunAt, context.arrivedAt);
          return { ok: true, output: outcomeOf('waitForBackup') };
        },
      },
    });
    const [started] = await world.journal.read(`run/${world.runId}`);
    const since = Date.parse(started?.at ?? '') - minutes * MINUTE;
    const run = await world.takeUp();
    await answerToTheChange(run);
    await run.ended;
    expect(contexts).toHaveLength(1);
    for (const at of times) expectOurs(at, since);
  });

  test('a clock that is set here is recorded, and changes no times of entries', async () => {
    const world = await worldWith({});
    let jumps = [3600];
    const moved = () => {
      const [jump = 0] = jumps;
      jumps = [];
      return jump;
    };
    const run = await world.takeUp({ clock: { moved, mark: () => undefined } });
    await answerToTheChange(run);
    await run.ended;
    expect(await world.bodies('clock.moved')).toEqual([{ seconds: 3600, entries: 'unmoved' }]);
    const timeline = timelineOf(await world.journal.read(`run/${world.runId}`));
    expect(timeline).toMatchObject({ clockMovedMs: 0, clockMovesMs: [], clockSetBack: false });
  });
});
