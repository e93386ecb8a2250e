import { describe, expect, test } from 'vitest';
import { statePath } from '../../machines/parts/states.ts';
import type { ActivityContext, AnyActivity, Overdue } from '../../src/activities/activity.ts';
import { answerToTheChange, makeWorld, obedient, reaches } from './world.ts';

const LATE: Overdue = {
  seconds: 400,
  overSeconds: 40,
  limitSeconds: 360,
  basis: 'history',
  detail: 'the last 3 finished backups took 2 min',
};

describe('beside a wait', () => {
  test('giving up leads to the ways out and ends the reads, and later findings change nothing', async () => {
    const waits = waiting();
    const { world, run } = await atTheWait(waits);
    await run.answer({ event: 'operator.giveUp' });
    await reaches(run, 'backup.waitFailed');
    const [first] = waits.begun;
    expect(first?.context.signal.aborted).toBe(true);
    const written = run.state().entries.length;
    first?.context.report({ kind: 'task', status: 'done', what: 'late', overdue: LATE });
    first?.end({ id: 4, status: 'done' });
    await run.answer({ event: 'operator.retry' });
    await reaches(run, 'backup.waiting');
    await expect.poll(() => waits.begun.length).toBe(2);
    const types = run
      .state()
      .entries.slice(written)
      .map(({ type }) => type);
    expect(types).not.toContain('activity.overdue');
    expect((await world.bodies('answer')).map((body) => (body as { event: string }).event)).toContain(
      'operator.giveUp',
    );
    await run.detach();
  });

  test('looking again sends a request at once, and the run stays in its state', async () => {
    const waits = waiting();
    const { run } = await atTheWait(waits);
    await run.answer({ event: 'operator.lookAgain' });
    await expect.poll(() => waits.begun.length).toBe(2);
    expect(statePath(run.state().snapshot)).toBe('backup.waiting');
    waits.begun[0]?.end({ id: 4, status: 'done' });
    expect(statePath(run.state().snapshot)).toBe('backup.waiting');
    waits.begun[1]?.end({ id: 4, status: 'done' });
    await reaches(run, 'done');
    await run.ended;
  });

  test('a result of the wait at the same moment stands, and the late answer is refused with the reason', async () => {
    const waits = waiting();
    const { run } = await atTheWait(waits);
    waits.begun[0]?.end({ id: 4, status: 'done' });
    const answered = run.answer({ event: 'operator.giveUp' }).then(
      () => 'taken',
      (thrown: { code: string }) => thrown.code,
    );
    const how = await answered;
    // Either may come first, but never both.
    expect(['taken', 'answer.late', 'answer.misfit']).toContain(how);
    if (how === 'taken') await reaches(run, 'backup.waitFailed');
    else await run.ended;
    if (how === 'taken') await run.detach();
  });

  test('an answer that the state does not offer is refused', async () => {
    const { run } = await atTheWait(waiting());
    await expect(run.answer({ event: 'operator.stop' })).rejects.toMatchObject({ code: 'answer.misfit' });
    await run.detach();
  });
});

describe('a step that takes too long', () => {
  test('is recorded once for each limit, even if another process continues it', async () => {
    const waits = waiting();
    const { world, run } = await atTheWait(waits);
    const late = (limitSeconds: number) =>
      waits.begun.at(-1)?.context.report({
        kind: 'task',
        status: 'running',
        what: 'backup 4',
        overdue: { ...LATE, limitSeconds },
      });
    late(360);
    late(360);
    await expect.poll(() => world.bodies('activity.overdue')).toHaveLength(1);
    await run.detach();
    const again = await world.takeUp();
    await expect.poll(() => waits.begun.length).toBe(2);
    late(360);
    late(720);
    await expect.poll(() => world.bodies('activity.overdue')).toHaveLength(2);
    expect(await world.bodies('activity.overdue')).toEqual([
      expect.objectContaining({ activity: 'waitForBackup', limitSeconds: 360, basis: 'history' }),
      expect.objectContaining({ limitSeconds: 720, detail: LATE.detail }),
    ]);
    await again.detach();
  });

  test('knows when the run began and since when it has been waiting, which looking again does not change', async () => {
    const waits = waiting();
    const { run } = await atTheWait(waits);
    await run.answer({ event: 'operator.lookAgain' });
    await expect.poll(() => waits.begun.length).toBe(2);
    const [first, second] = waits.begun.map(({ context }) => context);
    expect(first?.begunAt).toBe(run.state().entries[0]?.at);
    expect(second?.arrivedAt).toBe(first?.arrivedAt);
    expect(first?.arrivedAt).not.toBe(first?.begunAt);
    await run.detach();
  });
});

/** A wait that ends on the test's command. */
function waiting() {
  const begun: { readonly context: ActivityContext; readonly end: (output: object) => void }[] = [];
  const activity: AnyActivity = {
    kind: 'read',
    run: (_: never, context: ActivityContext) => {
      const over = Promise.withResolvers<{ ok: true; output: object }>();
      begun.push({ context, end: (output) => over.resolve({ ok: true, output }) });
      return over.promise;
    },
  };
  return { begun, activity };
}

async function atTheWait(waits: ReturnType<typeof waiting>) {
  const world = await makeWorld(obedient({ waitForBackup: waits.activity }));
  const run = await world.takeUp();
  await answerToTheChange(run);
  await reaches(run, 'backup.waiting');
  await expect.poll(() => waits.begun.length).toBe(1);
  return { world, run };
}
