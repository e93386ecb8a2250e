import { msOf } from '../../../base/instant.ts';
import type { TimeQuestion } from '../../../view/moment-reader.ts';
import type { Intent } from './key-binding.ts';
import { type Picker, type QuestionState, UNITS } from './question-state.ts';

const STEP_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const;

/**
 * Where an arrow, Home or End takes the picker: never outside of the range. Nothing when the key is about
 * something else.
 */
export function movePicker(question: TimeQuestion, picker: Picker, intent: Intent): Picker | undefined {
  const { earliest, latest } = edgesOf(question);
  const to = (at: number): Picker => ({ ...picker, at: Math.min(latest, Math.max(earliest, at)) });
  switch (intent) {
    case 'earlier':
      return to(picker.at - STEP_MS[picker.unit]);
    case 'later':
      return to(picker.at + STEP_MS[picker.unit]);
    case 'first':
      return to(earliest);
    case 'last':
      return to(latest);
    case 'coarser':
      return { ...picker, unit: UNITS[UNITS.indexOf(picker.unit) + 1] ?? picker.unit };
    case 'finer': {
      const unit = UNITS[UNITS.indexOf(picker.unit) - 1];
      return unit === undefined ? undefined : { ...picker, unit };
    }
    default:
      return undefined;
  }
}

/** The edges in milliseconds; not numbers when the question names none that can be read. */
export function edgesOf({ earliest, latest }: TimeQuestion): { earliest: number; latest: number } {
  return { earliest: msOf(earliest), latest: msOf(latest) };
}

/** Whether the picker stands on a moment that may be answered with. */
export function isPickable(question: TimeQuestion, { at }: Picker): boolean {
  const { earliest, latest } = edgesOf(question);
  return at >= earliest && at <= latest;
}

/** The question with the moment that was read from its field, or with the reason why there is none. */
export function withMoment(
  question: QuestionState,
  text: string,
  moment: { readonly time: Date } | { readonly problem: string },
): QuestionState {
  const { picker, problem: _, ...rest } = question;
  // What was typed meanwhile stands for itself.
  if (picker === undefined || picker.reading !== text) return question;
  const { reading: __, ...idle } = picker;
  return 'time' in moment
    ? { ...rest, text: '', picker: { ...idle, at: moment.time.getTime() } }
    : { ...rest, picker: idle, problem: { text: moment.problem, hints: [] } };
}
