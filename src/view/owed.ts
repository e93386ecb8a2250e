import { plain } from './paper/shell-text.ts';
import type { ObligationView, QuestionOption, QuestionView, Tone } from './run-view.ts';

/** The words about what is owed that every renderer uses. Texts of the obligation itself are left to the renderer to clean. */

export type ObligationsQuestion = QuestionView & { readonly kind: 'obligations' };

/** What is still to be done. */
export function stillOpen(obligations: readonly ObligationView[]): readonly ObligationView[] {
  return obligations.filter(({ settled }) => settled === undefined);
}

/** `owing 3`, `owing 3, 1 overdue`, or nothing. */
export function owingWords(obligations: readonly ObligationView[]): {
  short: string;
  long: string;
  tone: Tone;
} {
  const open = stillOpen(obligations);
  const overdue = open.filter(({ left }) => left !== undefined && left < 0).length;
  const short = open.length === 0 ? '' : `owing ${open.length}`;
  return overdue === 0
    ? { short, long: short, tone: 'warn' }
    : { short, long: `${short}, ${overdue} overdue`, tone: 'bad' };
}

/** `due in 12m`, `overdue by 3m`; empty without a limit. */
export function dueWords({ left }: ObligationView): { readonly text: string; readonly tone: Tone } {
  if (left === undefined) return { text: '', tone: 'dim' };
  return left < 0
    ? { text: `overdue by ${briefly(-left)}`, tone: 'warn' }
    : { text: `due in ${briefly(left)}`, tone: 'plain' };
}

/** `owed for 14m by mira`; the parts that are known. */
export function ageWords({ age, owner }: ObligationView): string {
  return [
    ...(age === undefined ? ['owed'] : [`owed for ${briefly(age)}`]),
    ...(owner === '' ? [] : [`by ${owner}`]),
  ].join(' ');
}

/** How one obligation can be settled, the easiest way first. Each is answered with the obligation's id. */
export function waysOf(
  question: ObligationsQuestion,
  { payable }: ObligationView,
): readonly QuestionOption[] {
  const done =
    payable === undefined
      ? []
      : [{ event: question.pay, label: PAYERS[payable][0], hint: PAYERS[payable][1], recommended: true }];
  return [
    ...done,
    {
      event: question.settle,
      label: 'it was done by hand',
      hint: 'the proof you type goes into the report',
      recommended: false,
      needs: { what: 'evidence', prompt: 'proof' },
    },
    {
      event: question.skip,
      label: 'skip it',
      hint: 'it is not done; the reason stays in the report',
      recommended: false,
      needs: { what: 'reason', prompt: 'reason' },
    },
  ];
}

/** `by the platform, by hand with a proof, or skipped with a reason`. */
export function waysInWords({ payable }: ObligationView): string {
  const here = payable === undefined ? '' : `${payable === 'run' ? 'by this run' : `by ${NAMES[payable]}`}, `;
  return `${here}by hand with a proof, or skipped with a reason`;
}

/** What settles it by hand, to copy. An id may hold what somebody has called a key or an application, so it is a word of the shell. */
export function settleCommand(id: string): string {
  return `lifeboat owe settle ${plain(id)} --proof TEXT`;
}

/** What has it done from here, to copy. */
export function payCommand(id: string): string {
  return `lifeboat owe pay ${plain(id)}`;
}

/** A length of time in few characters: `45s`, `12m`, `3h 5m`, `2d 4h`. */
function briefly(seconds: number): string {
  const minutes = Math.floor(Math.max(0, seconds) / 60);
  if (minutes < 1) return `${Math.floor(Math.max(0, seconds))}s`;
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? pair(hours, 'h', minutes % 60, 'm')
    : pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}

const NAMES = { platform: 'the platform', cf: 'cf' } as const;

const PAYERS = {
  platform: ['let the platform do it', "by the platform's API, now; its own record is kept as the proof"],
  cf: ['let cf do it', 'by the cf command that is logged in here; its answers are kept as the proof'],
  run: ['let this run do it', 'a step of this run does it and proves it'],
} as const;
