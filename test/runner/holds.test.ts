import { expect, test, vi } from 'vitest';
import type { AnyActivity, SendContext } from '../../src/activities/activity.ts';
import { failureOf } from '../../src/base/errors.ts';
import { Holds } from '../../src/runner/holds.ts';
import { leased } from './leased.ts';
import { answerToTheChange, landed, makeWorld, obedient, reaches, sending } from './world.ts';

const LOST = {
  code: 'journal.lost-hold',
  exitCode: 3,
  shortMessage: expect.stringContaining('another process may have it now, so nothing more is sent from here'),
};

test('a run that loses its hold ends what is in progress and writes nothing more, and another process takes it up', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const waiting: AnyActivity = {
    kind: 'read',
    run: (_, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => undefined);
    },
  };
  const world = await makeWorld(obedient({ preflight: waiting }));
  const lease = leased(world.journal);
  const run = await world.takeUp({ journal: lease.journal });
  const signal = await begun.promise;
  const before = await world.types();
  lease.lose();
  await expect(run.ended).rejects.toMatchObject({
    ...LOST,
    hints: expect.arrayContaining([expect.stringContaining(`lifeboat resume ${world.runId}`)]),
  });
  expect(signal.aborted).toBe(true);
  expect(await world.types()).toEqual(before);
  const other = await world.takeUp({ activities: obedient() });
  await reaches(other, 'oldBackup.asking');
  await other.detach();
});

test('a run that waits for an answer ends when its hold is lost, and takes no more answers', async () => {
  const world = await makeWorld(obedient());
  const lease = leased(world.journal);
  const run = await world.takeUp({ journal: lease.journal });
  await reaches(run, 'oldBackup.asking');
  const before = await world.types();
  lease.lose();
  await expect(run.answer({ event: 'operator.prove' })).rejects.toMatchObject({ code: 'journal.lost-hold' });
  await expect(run.ended).rejects.toMatchObject(LOST);
  expect(await world.types()).toEqual(before);
});

test('a call in progress when the hold is lost is named, left without an outcome, and looked up by the next process', async () => {
  const sent = Promise.withResolvers<AbortSignal>();
  let sends = 0;
  const world = await makeWorld(
    obedient({
      createBackup: {
        ...sending(async () => undefined),
        send: (_: never, { signal }: SendContext) => {
          sends += 1;
          sent.resolve(signal);
          return new Promise(() => undefined);
        },
        judge: async () => ({
          verdict: 'landed',
          output: { landed: true, id: 9, adopted: true },
          evidence: {},
        }),
      } as AnyActivity,
    }),
  );
  const lease = leased(world.journal);
  const run = await world.takeUp({ journal: lease.journal, leaveGraceMs: 60_000 });
  await answerToTheChange(run);
  const signal = await sent.promise;
  lease.lose();
  await expect(run.ended).rejects.toMatchObject({
    ...LOST,
    hints: expect.arrayContaining(['backup-1 may have been sent: whoever goes on asks the service first']),
  });
  expect(signal.aborted).toBe(true);
  expect((await world.types()).at(-1)).toBe('intent.armed');
  expect(await (await world.takeUp()).ended).toMatchObject({ exitCode: 0 });
  expect(sends).toBe(1);
});

test('nothing is armed until the hold lasts long enough for a call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const world = await makeWorld(obedient());
  const lease = leased(world.journal);
  const run = await world.takeUp({ journal: lease.journal });
  await reaches(run, 'oldBackup.asking');
  lease.last(900);
  await answerToTheChange(run);
  await reaches(run, 'backup.sending');
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await world.types()).filter((type) => type === 'intent.armed')).toEqual([]);
  expect((await world.types()).at(-1)).toBe('intent.prepared');
  lease.last(60_000);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(await run.ended).toMatchObject({ exitCode: 0 });
});

test('a call that is stopped at the last instant was never sent, and is recorded as such', async () => {
  let sends = 0;
  const refusing = sending(async () => undefined) as AnyActivity & { readonly kind: 'once' };
  const createBackup = {
    ...refusing,
    send: async (_: never, { mayLeave }: SendContext) => {
      if (sends === 0) lease.last(100);
      try {
        mayLeave();
      } catch (thrown) {
        lease.last(Number.POSITIVE_INFINITY);
        return { sent: 'absent', failure: failureOf(thrown) };
      }
      sends += 1;
      return landed(4);
    },
  } as AnyActivity;
  const world = await makeWorld(obedient({ createBackup }));
  const lease = leased(world.journal);
  const run = await world.takeUp({ journal: lease.journal });
  await answerToTheChange(run);
  await reaches(run, 'backup.failed');
  expect(sends).toBe(0);
  expect(await world.bodies('intent.outcome')).toMatchObject([
    { sent: 'absent', failure: { code: 'journal.lost-hold' } },
  ]);
  await run.detach();
});

test('a fact for the ledger of an instance is not written if the run does not hold that ledger', async () => {
  const fact = { type: 'card.prepared', body: {}, instance: 'shop' };
  const setKey: AnyActivity = {
    kind: 'repeatable',
    run: async () => ({ ok: true, output: { answer: 'accepted' }, ledger: [fact] }),
  };
  const world = await makeWorld(obedient({ setKey }));
  const run = await world.takeUp();
  await answerToTheChange(run);
  await expect(run.ended).rejects.toMatchObject({ code: 'journal.unheld' });
  expect(await world.journal.read('instance/shop')).toEqual([]);
});

test('holds are taken in the order of their names, once each, and released together', async () => {
  const world = await makeWorld(obedient());
  const taken: string[] = [];
  const holds = new Holds({
    hold: (stream) => {
      taken.push(stream);
      return world.journal.hold(stream);
    },
  });
  await holds.take('instance/shop', 'instance/orders', 'instance/shop');
  await holds.take('instance/orders', 'run/x');
  expect(taken).toEqual(['instance/orders', 'instance/shop', 'run/x']);
  await holds.release();
  expect(holds.all).toEqual([]);
  await (await world.journal.hold('instance/shop')).release();
});
