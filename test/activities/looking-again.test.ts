import { expect, test } from 'vitest';
import type { InDoubt, Judgement, OnceActivity } from '../../src/activities/activity.ts';
import { lookingAgain } from '../../src/activities/poll.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { contextOf } from './world.ts';

const LANDED: Judgement<string> = { verdict: 'landed', output: 'it', evidence: null };
const MEMORY: InDoubt = { baseline: null, armedAt: '2026-03-01T03:00:00Z', looks: 0 };

/** A verb whose service gives these answers in order, and the clock. */
function asked(...answers: readonly (string | Judgement<string>)[]) {
  const clock = { ms: Date.parse('2026-03-01T03:00:00Z') };
  let looks = 0;
  const judge = async () => {
    const answer = answers[looks] ?? answers.at(-1) ?? LANDED;
    looks += 1;
    if (typeof answer === 'string') throw new LifeboatError(answer, 'as wished');
    return answer;
  };
  const verb = lookingAgain({ kind: 'once', judge } as unknown as OnceActivity<{ intent: string }, string>);
  const context = contextOf(() => new Date(clock.ms));
  return { look: (intent = 'I-1') => verb.judge({ intent }, MEMORY, context), clock, looks: () => looks };
}

test.each([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'service.busy',
  'service.conflict',
  'service.bad-answer',
  'service.redirect',
])('a list that cannot be read now (%s) is requested again before a person is asked', async (code) => {
  const { look, clock, looks } = asked(code, LANDED);
  const judgement = await look();
  expect(judgement).toMatchObject({ verdict: 'wait', untilMs: clock.ms + 120_000 });
  expect(await look()).toEqual(LANDED);
  expect(looks()).toBe(2);
});

test('a list that cannot be read for two minutes is a question', async () => {
  const { look, clock } = asked('service.error');
  expect(await look()).toMatchObject({ verdict: 'wait' });
  clock.ms += 120_000;
  expect(await look()).toMatchObject({ verdict: 'wait' });
  clock.ms += 1;
  await expect(look()).rejects.toMatchObject({ code: 'service.error' });
});

test("looking again on a person's request restarts the time limit, and so does every other request", async () => {
  const { look, clock } = asked('service.error');
  await look();
  clock.ms += 120_001;
  expect(await look('I-2')).toMatchObject({ verdict: 'wait' });
  await expect(look()).rejects.toThrow();
  expect(await look()).toMatchObject({ verdict: 'wait' });
});

test('a list that could be read in between restarts the time limit', async () => {
  const later: Judgement<string> = { verdict: 'wait', ms: 5, untilMs: 10, shows: 'nothing' };
  const { look, clock } = asked('service.error', later, 'service.error');
  await look();
  clock.ms += 100_000;
  expect(await look()).toEqual(later);
  clock.ms += 100_000;
  expect(await look()).toMatchObject({ verdict: 'wait', untilMs: clock.ms + 120_000 });
});

test.each([
  'service.forbidden',
  'service.not-found',
  'service.too-large',
  'credentials.refused',
  'journal.no-arm-time',
])('a permanent failure (%s) fails at once', async (code) => {
  const { look, looks } = asked(code);
  await expect(look()).rejects.toMatchObject({ code });
  expect(looks()).toBe(1);
});
