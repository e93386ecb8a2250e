import { expect, test } from 'vitest';
import { GivenAnswers } from '../../machines/parts/given-answers.ts';
import type { Question } from '../../machines/parts/question.ts';

const tryAgain = { event: { type: 'operator.retry' }, label: 'try again', recommended: true } as const;
const asked = (prompt: string): Question => ({ kind: 'choice', prompt, options: [tryAgain] });
const answer = { event: 'operator.retry' };

test('the same answer to the same question is given only once', () => {
  const given = new GivenAnswers();
  expect(given.mayHelp(asked('it failed'), answer)).toBe(true);
  given.add(asked('it failed'), answer);
  expect(given.mayHelp(asked('it failed'), answer)).toBe(false);
  expect(given.mayHelp(asked('it failed otherwise'), answer)).toBe(true);
});

test('a question whose words change each time is not answered endlessly', () => {
  const given = new GivenAnswers();
  let answered = 0;
  while (answered < 100_000 && given.mayHelp(asked(`it failed (request ${answered})`), answer)) {
    given.add(asked(`it failed (request ${answered})`), answer);
    answered += 1;
  }
  expect(answered).toBe(100);
});
