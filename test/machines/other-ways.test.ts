import { describe, expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import type { RunInput } from '../../machines/inputs.ts';
import { otherWays } from '../../machines/phases/failing.ts';
import { startingContext } from './starting-context.ts';

function waysOf(code: string, more: Partial<RunInput> = {}, known: Partial<RunContext> = {}) {
  const failure = { code, shortMessage: 'it failed', hints: [], evidence: {} };
  const context = { ...startingContext({ instance: 'orders', ...more }), failure, ...known };
  return otherWays(context).map(({ command }) => command);
}

const RECOVER = 'lifeboat run disaster-recovery orders --target TARGET --perform';

describe('where the instance does not answer', () => {
  test.each(['unreachable', 'timeout', 'reset', 'error', 'not-found'])(
    'service.%s leads to an offer to recover without the instance',
    (word) => {
      expect(waysOf(`service.${word}`, { mode: 'prepare' })).toEqual([RECOVER]);
    },
  );

  test('the target is named where the run has one, and names are quoted for the shell', () => {
    expect(waysOf('service.error', { target: 'orders-dr', mode: 'both' })).toEqual([
      'lifeboat run disaster-recovery orders --target orders-dr --perform',
    ]);
    expect(waysOf('service.error', { instance: "o'; rm -rf ~ #" })[0]).toContain(
      `disaster-recovery 'o'\\''; rm -rf ~ #' --target`,
    );
  });

  const from = { guid: '4a1f77e0', fingerprint: '0a1b2c3d4e5f', what: 'newest', how: 'card' } as const;
  test.each([
    ['a refusal, which is an answer', 'service.forbidden', {}, {}],
    ['a failure of this machine', 'file.failed', {}, {}],
    ['a run that recovers without it already', 'service.error', { mode: 'perform' }, {}],
    ['a run that has come to the target', 'service.error', { mode: 'both' }, { source: { from } }],
    [
      'a run that has replaced the data',
      'service.error',
      {},
      { restore: { intents: 1, absences: 0, send: { is: 'landed' as const, id: 7, adopted: false } } },
    ],
  ] as const)('%s leads to no such offer', (_, code, more, known) => {
    expect(waysOf(code, more as Partial<RunInput>, known as Partial<RunContext>)).toEqual([]);
  });
});

test.each(['key.not-stored', 'backup.wrong-key'])(
  'where %s, the suggestion is to enter a key first',
  (code) => {
    expect(waysOf(code, { mode: 'perform' })).toEqual(['lifeboat keys add orders']);
  },
);

test('the next step gives the real names for starting the recovery without the command', () => {
  const failure = { code: 'service.error', shortMessage: 'it failed', hints: [], evidence: {} };
  const run = startingContext({ instance: "o'rders", target: 'orders-dr', mode: 'both' });
  expect(otherWays({ ...run, failure })[0]?.leadsTo).toEqual({
    kind: 'recover',
    instance: "o'rders",
    target: 'orders-dr',
  });
  const keyless = { ...run, failure: { ...failure, code: 'key.not-stored' } };
  expect(otherWays(keyless)[0]?.leadsTo).toEqual({ kind: 'add-key', instance: "o'rders" });
});

test('a run that was stopped is not stopped or retried again', () => {
  const run = startingContext({ instance: 'orders' });
  const words = (code: string, isOver: boolean) =>
    otherWays({ ...run, failure: { code, shortMessage: '', hints: [], evidence: {} } }, isOver)[0]?.when;
  expect(words('service.error', false)).toBe('if orders is lost: stop the run, recover it into a target');
  expect(words('service.error', true)).toBe('if orders is lost: recover it into a target');
  expect(words('key.not-stored', false)).toMatch(/then try again$/u);
  expect(words('key.not-stored', true)).toMatch(/then begin again$/u);
});

test('without a failure no other way is offered', () => {
  expect(otherWays(startingContext({ instance: 'orders' }))).toEqual([]);
});
