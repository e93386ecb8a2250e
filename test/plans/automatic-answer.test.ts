import { describe, expect, test } from 'vitest';
import type { Step } from '../../machines/parts/plan.ts';
import type { Question } from '../../machines/parts/question.ts';
import { automaticAnswer } from '../../src/plans/automatic-answer.ts';

const RECOVER = {
  id: 'recover',
  kind: 'runbook',
  runbook: 'disaster-recovery',
  with: {},
  onFailure: 'pause',
} as Step;
const CHECK = { id: 'look', kind: 'check', check: { tcp: '127.0.0.1:1' }, onFailure: 'pause' } as Step;

const stop = { event: { type: 'operator.stop' as const }, label: 'stop the run' };
const NAME: Question = {
  kind: 'typed-name',
  prompt: 'type orders-dr to recover into it',
  order: 'recover into orders-dr',
  expected: 'orders-dr',
  event: 'operator.confirm',
  stakes: { overwritten: 'all', lost: 'none', wayBack: 'none' },
  options: [stop],
};
const FAILURE: Question = {
  kind: 'choice',
  prompt: 'it failed',
  options: [
    { event: { type: 'operator.retry' }, label: 'try again' },
    {
      event: { type: 'operator.markDone' },
      label: 'it was done outside',
      needs: { what: 'evidence', prompt: 'how?' },
    },
    stop,
  ],
};

const asked = (question: Question, more: object = {}) => ({
  question,
  asksAbout: undefined,
  warning: undefined,
  hasConfirmed: false,
  ...more,
});
const given = { isConfirmed: true, isRepeated: false, isStopped: false, passed: undefined, rehearsal: false };

describe('the answer that a plan gives by itself', () => {
  test('is the name that was confirmed for the group', () => {
    expect(automaticAnswer(RECOVER, asked(NAME), given)).toEqual({
      event: 'operator.confirm',
      typed: 'orders-dr',
    });
  });

  test.each([
    ['the group was not confirmed, or the target has changed', asked(NAME), { ...given, isConfirmed: false }],
    ['something is known against it', asked(NAME, { warning: 'the key may be wrong' }), given],
    [
      'the run asks for the name again: its facts have changed, or an earlier send failed',
      asked(NAME, { hasConfirmed: true }),
      given,
    ],
    ['the name overrides a finding', asked({ ...NAME, event: 'operator.override' }), given],
    ['a call is in doubt', asked(NAME, { asksAbout: 'doubt' }), given],
  ])('is none where %s', (_, state, decided) => {
    expect(automaticAnswer(RECOVER, state as Parameters<typeof automaticAnswer>[1], decided)).toBeUndefined();
  });

  test('is absent for a failure, unless the plan passes it', () => {
    const failing = asked(FAILURE, { asksAbout: 'failure' }) as Parameters<typeof automaticAnswer>[1];
    expect(automaticAnswer(RECOVER, failing, given)).toBeUndefined();
    const passing = { ...RECOVER, onFailure: 'continue', because: 'it may wait' } as Step;
    expect(automaticAnswer(passing, failing, given)).toEqual({ event: 'operator.stop', text: 'it may wait' });
  });

  test('is absent for a call that never arrived, even where the plan passes failures', () => {
    const passing = { ...RECOVER, onFailure: 'continue', because: 'it may wait' } as Step;
    const absent = asked(FAILURE, { asksAbout: 'absence' }) as Parameters<typeof automaticAnswer>[1];
    expect(automaticAnswer(passing, absent, given)).toBeUndefined();
  });

  test('ends a run whose step a person has retried, but not one with a call in doubt', () => {
    const repeated = { ...given, isRepeated: true };
    const about = (asksAbout: string) =>
      asked(FAILURE, { asksAbout }) as Parameters<typeof automaticAnswer>[1];
    for (const trouble of ['failure', 'absence'])
      expect(automaticAnswer(RECOVER, about(trouble), repeated)).toMatchObject({ event: 'operator.stop' });
    expect(automaticAnswer(RECOVER, about('doubt'), repeated)).toBeUndefined();
  });

  test('marks a step as done in the words of the person who passed it, and stops a runbook', () => {
    const failing = asked(FAILURE, { asksAbout: 'failure' }) as Parameters<typeof automaticAnswer>[1];
    const passed = { how: 'done-outside' as const, text: 'seen by hand' };
    expect(automaticAnswer(CHECK, failing, { ...given, passed })).toEqual({
      event: 'operator.markDone',
      text: 'seen by hand',
    });
    expect(automaticAnswer(RECOVER, failing, { ...given, passed })).toEqual({
      event: 'operator.stop',
      text: 'seen by hand',
    });
  });

  test('ends a step whose group was stopped, and sends none of its recoveries; a doubt stays with a person', () => {
    const stopped = { ...given, isStopped: true };
    const why = { event: 'operator.stop', text: 'its group was stopped' };
    expect(automaticAnswer(CHECK, asked(FAILURE, { asksAbout: 'failure' }), stopped)).toEqual(why);
    expect(automaticAnswer(CHECK, asked(FAILURE, { asksAbout: 'doubt' }), stopped)).toBeUndefined();
    expect(automaticAnswer(RECOVER, asked(NAME), stopped)).toBeUndefined();
    expect(automaticAnswer(RECOVER, asked(FAILURE, { asksAbout: 'failure' }), stopped)).toBeUndefined();
  });

  test('in a rehearsal skips the removal of its target, and says that nothing removes it', () => {
    const followUps = {
      ...{ kind: 'followUps', prompt: 'one is open', skip: 'operator.skip', options: [] },
      followUps: [{ id: 'remove-target', kind: 'remove-target', subject: 'scratch-1', what: 'remove it' }],
    } as never as Question;
    expect(automaticAnswer(RECOVER, asked(followUps), { ...given, rehearsal: true })).toEqual({
      event: 'operator.skip',
      id: 'remove-target',
      text: 'the plan does not remove it: the scratch instance stays, with the restored data',
    });
    expect(automaticAnswer(RECOVER, asked(followUps), given)).toBeUndefined();
  });
});
