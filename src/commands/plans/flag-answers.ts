import { type Answer, optionKey, type Question } from '../../../machines/parts/question.ts';
import { questionOf } from '../../runner/answer.ts';
import type { DrivenPlan } from './drive-plan.ts';

interface Decided {
  /** Groups that are confirmed by name. */
  readonly confirm: readonly string[];
  /** Whether what a question recommends is its answer. */
  readonly yes: boolean;
}

/** Gives the plan's own questions the answers that were decided in advance, each question once. */
export class FlagAnswers {
  readonly #run: DrivenPlan['run'];
  readonly #decided: Decided;
  readonly #refused: (thrown: unknown) => void;
  readonly #given = new Set<string>();
  #answering = 0;

  /** `refused`: gets why the run has not taken an answer. */
  constructor(run: DrivenPlan['run'], decided: Decided, refused: (thrown: unknown) => void) {
    this.#run = run;
    this.#decided = decided;
    this.#refused = refused;
  }

  get isAnswering(): boolean {
    return this.#answering > 0;
  }

  /** Answers what the plan asks now. False if it asks nothing, or nothing that was decided. */
  give(): boolean {
    const question = questionOf(this.#run.state().snapshot);
    const answer = answerByFlags(question, this.#decided);
    const mark = JSON.stringify(question);
    if (answer === undefined || this.#given.has(mark)) return false;
    this.#given.add(mark);
    this.#answering += 1;
    const over = () => {
      this.#answering -= 1;
    };
    this.#run.answer(answer).then(over, (thrown: unknown) => {
      over();
      this.#refused(thrown);
    });
    return true;
  }
}

/** The answer of the flags to the plan's own question; undefined where a person has to answer it. */
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
