import { formatBytes } from '../../src/base/quantity.ts';
import type { Question, QuestionOption, Stakes } from '../parts/question.ts';
import type { RunEvent } from '../setup.ts';

/** The operator adds the words. */
type Bare<Event> = Event extends unknown ? Omit<Event, 'text' | 'typed'> : never;

export type RunQuestion = Question<RunEvent>;
export type OptionEvent = Bare<RunEvent>;
export type Option = QuestionOption<OptionEvent>;

export const stop: Option = {
  event: { type: 'operator.stop' },
  label: 'stop the run',
  hint: 'nothing more is sent; the run is closed as stopped',
};

/** For a run that has changed the service. */
export const FOLLOW_UPS_OPEN =
  'a follow-up is open: skip it with a reason, or leave the run and resume it later';

/** For a run that has replaced the data. */
export const NO_STOP = {
  disabled: 'the data was replaced: skip this with a reason, or leave the run and resume it later',
};

export const noStop: Option = {
  event: { type: 'operator.stop' },
  label: 'stop the run',
  disabled: FOLLOW_UPS_OPEN,
};

/** The operator adds what an answer still lacks: a reason or a typed name. */
export function choice(prompt: string, options: readonly (Option | undefined)[]): RunQuestion {
  return {
    kind: 'choice',
    prompt,
    options: options.filter((option) => option !== undefined),
  } as RunQuestion;
}

export function typedName(
  { prompt, order }: { readonly prompt: string; readonly order: string },
  expected: string,
  event: RunEvent['type'],
  stakes: Stakes,
  options: readonly Option[],
): RunQuestion {
  return { kind: 'typed-name', prompt, order, expected, event, stakes, options } as RunQuestion;
}

export function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? 'size not reported' : formatBytes(bytes);
}
