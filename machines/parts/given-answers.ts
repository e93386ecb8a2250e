import { type Answer, optionKey, type Question } from './question.ts';

/**
 * Words of a question can change each time that it is asked, as a range of times does. So there is a bound:
 * no run needs the same answer as often as this, and one that turns in a circle ends.
 */
const MAX_ALIKE = 100;

/** The answers that a run was given without a person, so that it does not turn in a circle. */
export class GivenAnswers {
  readonly #given = new Map<string, number>();

  /**
   * Whether an answer may help. The same answer to the very same question does not, and a time that did not
   * hold once does not either.
   */
  mayHelp(question: Question, answer: Answer): boolean {
    if (this.#given.has(exactly(question, answer))) return false;
    return (this.#given.get(alike(question, answer)) ?? 0) < (question.kind === 'time' ? 1 : MAX_ALIKE);
  }

  add(question: Question, answer: Answer): void {
    for (const mark of [exactly(question, answer), alike(question, answer)])
      this.#given.set(mark, (this.#given.get(mark) ?? 0) + 1);
  }
}

function exactly(question: Question, { event, id }: Answer): string {
  return JSON.stringify([question, event, id]);
}

/** The same for questions that differ in their words alone. */
function alike({ kind, options }: Question, { event, id, time }: Answer): string {
  return JSON.stringify([kind, options.map((option) => optionKey(option.event)), event, id, time]);
}
