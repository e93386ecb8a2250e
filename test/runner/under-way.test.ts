import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Holds } from '../../src/runner/holds.ts';
import { UnderWay } from '../../src/runner/under-way.ts';
import { answerToTheName, makeWorld, obedient, reaches } from './world.ts';

test('a run leaves no listener behind for a finished step, however many it performs', async () => {
  const listening = countListeners();
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  const before = listening();
  await answerToTheName(run);
  expect(listening()).toBe(before);
  await run.detach();
});

test('a pause leaves no listener behind once it has passed', async () => {
  const listening = countListeners();
  const underWay = new UnderWay('read', new AbortController().signal, new Holds({ hold: neverHeld }));
  const before = listening();
  await underWay.sleep(1);
  expect(listening()).toBe(before);
});

test('a pause ends at once when the run is left', async () => {
  const leaving = new AbortController();
  const underWay = new UnderWay('read', leaving.signal, new Holds({ hold: neverHeld }));
  const pause = underWay.sleep(60_000);
  leaving.abort();
  await expect(pause).rejects.toMatchObject({ code: 'run.left' });
  await expect(underWay.sleep(60_000)).rejects.toMatchObject({ code: 'run.left' });
});

test('checking whether a hold lasts for a call leaves no listener behind', async () => {
  const listening = countListeners();
  const world = await makeWorld(obedient());
  const lasting = [900, 900, Number.POSITIVE_INFINITY];
  const holds = new Holds({
    hold: async (stream) => ({
      ...(await world.journal.hold(stream)),
      lasts: () => lasting.shift() ?? Number.POSITIVE_INFINITY,
    }),
  });
  await holds.take('instance/orders');
  const before = listening();
  await holds.lastForCall(new AbortController().signal);
  expect(listening()).toBe(before);
  await holds.release();
});

/** Counts the abort listeners on all signals that were listened to since this was called. */
function countListeners(): () => number {
  const signals = new Set<AbortSignal>();
  const add = EventTarget.prototype.addEventListener;
  const spy = vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (
    this: EventTarget,
    ...given
  ) {
    if (this instanceof AbortSignal) signals.add(this);
    add.apply(this, given);
  });
  onTestFinished(() => spy.mockRestore());
  return () => [...signals].reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0);
}

function neverHeld(): never {
  throw new Error('nothing is held');
}
