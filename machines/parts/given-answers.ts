import { type Answer, optionKey, type Question } from './question.ts';

/**
 * Words of a question can change each time, as a range of times does. This bound ends a run that turns in a
 * circle; no run needs the same answer as often.
 */
const MAX_ALIKE = 100;

/** The answers that a run was given without a person. */
export class GivenAnswers {
  readonly #given = new Map<string, number>();

  /** The same answer to the very same question does not help, and neither does a time that failed once. */
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

/** Equal for questions that differ only in their words. */
function alike({ kind, options }: Question, { event, id, time }: Answer): string {
  return JSON.stringify([kind, options.map((option) => optionKey(option.event)), event, id, time]);
}
