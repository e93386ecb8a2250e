import { leftToRun, stillOpen } from '../../machines/parts/unfinished.ts';
import { counted, readable } from '../base/format.ts';
import { plain } from './fallback/shell-text.ts';
import type { FollowUpView, OutcomeView, QuestionOption, QuestionView, Tone } from './run-view.ts';

/** For every renderer, which cleans the texts of the follow-up itself. */

export { leftToRun, stillOpen };

export type FollowUpsQuestion = QuestionView & { readonly kind: 'followUps' };

/** `3 follow-ups`, `3 follow-ups, 1 overdue`, or nothing. */
export function openWords(followUps: readonly FollowUpView[]): {
  short: string;
  long: string;
  tone: Tone;
} {
  const open = stillOpen(followUps);
  const overdue = open.filter(({ left }) => left !== undefined && left < 0).length;
  const short = open.length === 0 ? '' : counted(open.length, 'follow-up');
  return overdue === 0
    ? { short, long: short, tone: 'warn' }
    : { short, long: `${short}, ${overdue} overdue`, tone: 'bad' };
}

/** For a run that is over with none open: `follow-ups: all 4 done`. */
export function closedWords(
  followUps: readonly FollowUpView[],
  { unknown, leaves = [] }: Pick<OutcomeView, 'unknown' | 'leaves'>,
): { readonly text: string; readonly tone: Tone } {
  const skipped = followUps.filter(({ closed }) => closed?.tone === 'warn').length;
  if (leaves.length > 0)
    return {
      text: `this run leaves for later: ${leaves.join('; ')} (lifeboat followups list)`,
      tone: 'warn',
    };
  if (followUps.length === 0 && unknown !== undefined)
    return { text: `no follow-up is tracked: look at what ${unknown} holds before it is used`, tone: 'warn' };
  if (followUps.length === 0) return { text: 'this run leaves no follow-up', tone: 'good' };
  if (skipped === 0) return { text: `follow-ups: all ${followUps.length} done`, tone: 'good' };
  return { text: `follow-ups: ${followUps.length - skipped} done, ${skipped} skipped`, tone: 'warn' };
}

/** Names a follow-up on the command line, unique among all. */
export function wordOf({
  id,
  run,
  instance,
}: {
  id: string;
  run: string | undefined;
  instance: string;
}): string {
  return `${run ?? instance}:${id}`;
}

/** `due in 12m`, `overdue by 3m`; empty without a limit. */
export function dueWords({ left }: FollowUpView): { readonly text: string; readonly tone: Tone } {
  if (left === undefined) return { text: '', tone: 'dim' };
  return left < 0
    ? { text: `overdue by ${briefly(-left)}`, tone: 'warn' }
    : { text: `due in ${briefly(left)}`, tone: 'plain' };
}

/** The known parts of `open for 14m, owner mira`; no age in the first minute. */
export function ageWords({ age, owner }: FollowUpView): string {
  return [
    ...(age === undefined || age < 60 ? [] : [`open for ${briefly(age)}`]),
    ...(owner === '' ? [] : [`owner ${owner}`]),
  ].join(', ');
}

/** The easiest first. Each is answered with the follow-up's id. */
export function waysOf(question: FollowUpsQuestion, { doable }: FollowUpView): readonly QuestionOption[] {
  const done =
    doable === undefined || doable === 'again'
      ? []
      : [{ event: question.doNow, label: DOERS[doable][0], hint: DOERS[doable][1], recommended: true }];
  return [
    ...done,
    {
      event: question.close,
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
export function waysInWords({ doable }: FollowUpView): string {
  const here = doable === undefined ? '' : `by ${NAMES[doable]}, `;
  return `${here}by hand with a proof, or skipped with a reason`;
}

/** To copy: an id may contain the name of a key or an application, so it is quoted for the shell. */
export function doneCommand(id: string): string {
  return `lifeboat followups done ${plain(id)} --proof TEXT`;
}

/** To copy; does it from here. */
export function runCommand(id: string, doable?: FollowUpView['doable']): string {
  return `lifeboat followups run ${plain(id)}${doable === 'again' ? ' --again' : ''}`;
}

/** `45s`, `12m`, `3h 5m`, `2d 4h`. */
export function briefly(seconds: number): string {
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

const NAMES = {
  platform: 'the platform',
  cf: 'cf',
  command: 'its command of the config',
  again: 'its command once more (it was begun before)',
  run: 'this run',
} as const;

const DOERS = {
  platform: ['let the platform do it', "by the platform's API, now; its own record is kept as the proof"],
  cf: ['let cf do it', 'by the cf command that is logged in here; its answers are kept as the proof'],
  command: ['run its command', 'the command of the config, now; then its proof has to end with 0'],
  run: ['let this run do it', 'a step of this run does it and proves it'],
} as const;

/** The run continues without a question once its last other follow-up is closed. */
export function runGoesOnWords(next: readonly { readonly what: string }[]): string {
  const words = next.map(({ what }) => readable(what)).join('; ');
  return `with this one closed, its run goes on by itself: ${words}`;
}
