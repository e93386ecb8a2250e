import type { FailureWays } from '../parts/failure-question.ts';
import { failureQuestion } from '../parts/failure-question.ts';
import type { Question, QuestionOption } from '../parts/question.ts';
import type { RecoveryContext } from './context.ts';
import type { RecoveryEvent } from './events.ts';

/** An answer without the words that the operator adds to it. */
type Bare<Event> = Event extends unknown ? Omit<Event, 'text' | 'typed'> : never;

export type RecoveryQuestion = Question<RecoveryEvent>;
export type OptionEvent = Bare<RecoveryEvent>;
export type Option = QuestionOption<OptionEvent>;

export const stop: Option = {
  event: { type: 'operator.stop' },
  label: 'stop the run',
  hint: 'nothing more is sent; the run is closed as stopped',
};

/** Why a run is not stopped once the service was changed. */
export const OWING = 'something is owed now: skip it with a reason, or leave the screen and go on later';

export const noStop: Option = { event: { type: 'operator.stop' }, label: 'stop the run', disabled: OWING };

/** A choice among answers. Their types are checked where they are written; what is missing in them the operator adds. */
export function choice(prompt: string, options: readonly (Option | undefined)[]): RecoveryQuestion {
  return {
    kind: 'choice',
    prompt,
    options: options.filter((option) => option !== undefined),
  } as RecoveryQuestion;
}

/** The name is typed before anything is destroyed. */
export function typedName(
  prompt: string,
  expected: string,
  event: RecoveryEvent['type'],
  options: readonly Option[],
): RecoveryQuestion {
  return { kind: 'typed-name', prompt, expected, event, options } as RecoveryQuestion;
}

/** The question of a failure state. */
export function askAboutFailure(ways: FailureWays) {
  return ({ failure }: RecoveryContext): RecoveryQuestion =>
    failureQuestion(failure, ways) as RecoveryQuestion;
}

/** Bytes as people read them. */
export function sizeOf(bytes: number | undefined): string {
  if (bytes === undefined) return 'size not told';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
