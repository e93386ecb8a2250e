import { type Answer, optionKey, type Question } from '../../../machines/parts/question.ts';
import { questionOf } from '../../runner/answer.ts';
import type { DrivenPlan } from './drive-plan.ts';

interface Decided {
  /** Names of confirmed groups. */
  readonly confirm: readonly string[];
  /** Take each question's recommendation. */
  readonly yes: boolean;
}

/** Each question once. */
export class FlagAnswers {
  readonly #run: DrivenPlan['run'];
  readonly #decided: Decided;
  readonly #refused: (thrown: unknown) => void;
  readonly #given = new Set<string>();
  #answering = 0;

  /** Gets why the run refused an answer. */
  constructor(run: DrivenPlan['run'], decided: Decided, refused: (thrown: unknown) => void) {
    this.#run = run;
    this.#decided = decided;
    this.#refused = refused;
  }

  get isAnswering(): boolean {
    return this.#answering > 0;
  }

  /** False if nothing that was decided is asked. */
  give(): boolean {
    const question = questionOf(this.#run.state().snapshot);
    const answer = answerByFlags(question, this.#decided);
    const mark = JSON.stringify(question);
    if (answer === undefined || this.#given.has(mark)) return false;
    this.#given.add(mark);
    this.#answering += 1;
    this.#run
      .answer(answer)
      .catch(this.#refused)
      .finally(() => {
        this.#answering -= 1;
      });
    return true;
  }
}

/** Undefined where a person must answer. */
function answerByFlags(question: Question | undefined, { confirm, yes }: Decided): Answer | undefined {
  if (question === undefined) return undefined;
  if (question.kind === 'typed-name')
    return confirm.includes(question.expected)
      ? { event: question.event, typed: question.expected }
      : undefined;
  const recommended = question.options.find(
    (option) => option.recommended === true && option.disabled === undefined,
  );
  return yes && recommended !== undefined ? { event: optionKey(recommended.event) } : undefined;
}
