import type { Stakes } from '../../machines/parts/question.ts';
import { formatSpan } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import type { QuestionOption, QuestionView } from './run-view.ts';

/**
 * Milliseconds without a key between a question and a key that answers it. A key pressed before the question
 * could be read, or held down, was meant for something else. Longer than keyboards take between two repeats
 * (30 to 100 ms).
 */
export const QUIET_MS = 400;

/**
 * Equal keys mean the same promises and answers. Only what changes with time may differ: the reason why an
 * option is disabled (it may count down), the age of a follow-up, and the progress of a second person's
 * approval, which may arrive while the operator types. The recorded facts of a failure are not part of the
 * question.
 */
export function questionKey(question: QuestionView | undefined): string {
  if (question === undefined) return '';
  const options = question.options.map((option) => ({ ...option, disabled: option.disabled !== undefined }));
  if (question.kind === 'typed-name') return JSON.stringify({ ...question, approval: undefined, options });
  if (question.kind === 'choice') return JSON.stringify({ ...question, trouble: undefined, options });
  if (question.kind !== 'followUps') return JSON.stringify({ ...question, options });
  const open = question.open.map(({ age: _, left: __, ...followUp }) => followUp);
  return JSON.stringify({ ...question, options, open });
}

/** Three facts in order, each with its name. */
export function stakesWords(
  { overwritten, lost, lostSince, wayBack }: Stakes,
  now: number,
): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: 'overwritten', text: overwritten },
    { name: 'lost', text: `${lost}${agoWords(lostSince, now)}` },
    { name: 'way back', text: wayBack },
  ];
}

function agoWords(since: string | undefined, now: number): string {
  const seconds = (now - msOf(since)) / 1000;
  // In whole minutes, so that text beside an input field does not move.
  return seconds >= 60 ? ` (${formatSpan(Math.floor(seconds / 60) * 60)} ago)` : '';
}

/** A pasted text is refused: joined lines would make a text that was never written. */
export const SEVERAL_LINES = 'that text has line breaks or control characters: nothing was taken';

/** Says the difference if it is hard to see. */
export function notTheName(typed: string, expected: string): string {
  const why = unseen(typed, expected);
  return why === undefined ? 'that is not the name: nothing happens' : `that is not the name: ${why}`;
}

function unseen(typed: string, expected: string): string | undefined {
  const [isAfter, isBefore] = [typed.trimEnd() !== typed, typed.trimStart() !== typed];
  if (typed.trim() === expected) {
    const where = isAfter && isBefore ? 'spaces around' : isAfter ? 'a space after' : 'a space before';
    return `there ${isAfter && isBefore ? 'are' : 'is'} ${where} it`;
  }
  return typed.toLowerCase() === expected.toLowerCase() ? 'small and capital letters differ' : undefined;
}

/** The way around an approval that is late: a reason, then the name as usual. No event of a machine. */
export const BREAK_GLASS: QuestionOption = {
  event: 'break-glass',
  label: 'break the glass: go on without a second person',
  hint: 'asks for a reason, then for the name; both head the report',
  recommended: false,
  needs: { what: 'reason', prompt: 'why nobody can approve it in time' },
};
