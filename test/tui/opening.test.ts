import { expect, test } from 'vitest';
import type { LiveScreen, ScreenRequest } from '../../src/tui/live-screen.ts';
import type { OpenScreen } from '../../src/tui/module-screen.ts';
import { createOpening, createStack } from '../../src/tui/stack.ts';

/** A screen that does nothing, for what names it. */
function screenFor(request: ScreenRequest | undefined): LiveScreen {
  return {
    request,
    title: () => request?.name ?? 'run',
    subscribe: () => () => undefined,
    isTyping: () => false,
    keys: () => [],
    needs: () => [],
    layOut: () => ({ bands: [], page: { height: 1, last: 0 } }),
    press: () => false,
    paste: () => undefined,
    leave: async () => undefined,
  };
}

/** A stack with the board on it, where `arrive` ends the loading of the screen that is waited for. */
function openStack() {
  const stack = createStack(() => undefined);
  stack.push(screenFor({ name: 'board' }));
  const loading: PromiseWithResolvers<OpenScreen>[] = [];
  const failures: unknown[] = [];
  const acts: string[] = [];
  const opening = createOpening({
    stack,
    load: () => {
      const one = Promise.withResolvers<OpenScreen>();
      loading.push(one);
      return one.promise;
    },
    made: (open, request) => open({ request } as never),
    onFailed: (thrown) => failures.push(thrown),
  });
  const press = (key: string, then: () => void = () => undefined): void => {
    if (opening.isKept(() => press(key, then))) return;
    acts.push(`${key} on ${stack.top()?.title()}`);
    then();
  };
  return {
    stack,
    opening,
    acts,
    failures,
    press,
    /** Resolves when all that follows from it has happened. */
    arrive: async () => {
      loading.shift()?.resolve(({ request }) => screenFor(request));
      await new Promise((resolve) => setImmediate(resolve));
    },
    fail: async (why: string) => {
      loading.shift()?.reject(new Error(why));
      await new Promise((resolve) => setImmediate(resolve));
    },
    top: () => stack.top()?.title(),
  };
}

test('the current screen stays until the next one is loaded, and the next one gets the keys pressed in between', async () => {
  const { opening, press, arrive, acts, top } = openStack();
  opening.open({ name: 'runs' });
  press('down');
  press('enter');
  expect(top()).toBe('board');
  expect(acts).toEqual([]);
  await arrive();
  expect(top()).toBe('runs');
  expect(acts).toEqual(['down on runs', 'enter on runs']);
  press('up');
  expect(acts.at(-1)).toBe('up on runs');
});

test('a buffered key that opens another screen leaves the keys after it to that screen', async () => {
  const { opening, press, arrive, acts, top } = openStack();
  opening.open({ name: 'runs' });
  press('enter', () => opening.open({ name: 'watch', runId: '1' }));
  press('j');
  await arrive();
  expect(acts).toEqual(['enter on runs']);
  await arrive();
  expect(top()).toBe('watch');
  expect(acts).toEqual(['enter on runs', 'j on watch']);
});

test('no buffered key reaches a screen for which it was not pressed', async () => {
  const { stack, opening, press, arrive, acts } = openStack();
  opening.open({ name: 'runs' });
  press('escape', () => stack.remove(stack.top() as LiveScreen));
  press('enter');
  await arrive();
  expect(acts).toEqual(['escape on runs']);
  press('j');
  expect(acts.at(-1)).toBe('j on board');
});

test('a run that appears in between stays on top, and gets none of the buffered keys', async () => {
  const { stack, opening, press, arrive, acts, top } = openStack();
  opening.open({ name: 'runs' });
  press('enter');
  stack.push(screenFor(undefined), 'run');
  await arrive();
  expect(top()).toBe('run');
  expect(acts).toEqual([]);
});

test('a screen that cannot be loaded says so, and its keys are dropped', async () => {
  const { opening, press, fail, acts, failures, top } = openStack();
  opening.open({ name: 'runs' });
  press('enter');
  await fail('the file is gone');
  expect(failures).toEqual([new Error('the file is gone')]);
  expect(top()).toBe('board');
  expect(acts).toEqual([]);
  press('j');
  expect(acts).toEqual(['j on board']);
});

test('the screen that leads to another is closed when the other is loaded, and not before', async () => {
  const { stack, opening, arrive, top } = openStack();
  const palette = screenFor({ name: 'keys' });
  stack.push(palette, 'over');
  opening.open({ name: 'runs' }, () => stack.remove(palette));
  expect(top()).toBe('keys');
  await arrive();
  expect(stack.screens().map((screen) => screen.title())).toEqual(['board', 'runs']);
});

test('no screen opens after everything was stopped', async () => {
  const { opening, press, arrive, acts, top } = openStack();
  opening.open({ name: 'runs' });
  press('enter');
  opening.stop();
  await arrive();
  expect(top()).toBe('board');
  expect(acts).toEqual([]);
});
