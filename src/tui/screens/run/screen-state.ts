import { counted } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import { waysOf } from '../../../view/follow-up-words.ts';
import { QUIET_MS, questionKey } from '../../../view/question-words.ts';
import type { Answer } from '../../../view/run-port.ts';
import type { FollowUpView, QuestionOption, QuestionView, RunView, WayOn } from '../../../view/run-view.ts';
import type { Page } from '../../bands.ts';
import type { AppEffect } from '../../live-screen.ts';
import type { Field } from '../../parts/field.ts';
import type { Intent } from './key-binding.ts';

/** Everything the run screen depends on, apart from its size. */
export interface UiState {
  readonly view: RunView;
  /** `lead` asks whether to stop this run in order to begin another one. */
  readonly overlay: 'none' | 'help' | 'leave' | 'lead' | 'fallback' | 'log' | 'step';
  readonly fallback?: string;
  readonly leaveRow: number;
  /** The text that shown log entries must contain, and whether it is being typed. */
  readonly filter: Field;
  readonly isFiltering: boolean;
  /** Index of the step that is shown over the run. */
  readonly stepRow: number;
  /** First visible row of the text. */
  readonly scroll: number;
  readonly question?: QuestionState;
  /** Reasons, evidence and words given in this run, the newest first. Never a name or a secret. */
  readonly given: readonly string[];
  readonly keyboard: Keyboard;
  readonly hasPalette?: boolean | undefined;
}

/** When a key was read, on the clock that stamps the actions. */
export interface Press {
  readonly key: string;
  readonly at: number;
}

/** What decides whether a key was meant for what is shown. */
export interface Keyboard {
  readonly last?: Press;
  /** Since when the shown content has been there without a key press; undefined once it was answered. */
  readonly quietSince?: number;
  /** The last key before it appeared, until another one comes. */
  readonly before?: Press;
}

/** A key that was read, in milliseconds of the clock that stamps the actions. */
export interface KeyRead {
  /** Its name as `keyOf` returns it. */
  readonly key: string;
  /** It came several times in one read, as the repeats of a held key do. */
  readonly isHeld?: boolean;
  readonly now: number;
  /** It was pressed at this time or later. Default: `now`. */
  readonly since?: number;
}

export type Action =
  | { readonly type: 'view'; readonly view: RunView; readonly now: number }
  | (KeyRead & { readonly type: 'intent'; readonly intent: Intent; readonly page: Page })
  | (KeyRead & { readonly type: 'text'; readonly text: string })
  /** A key without a meaning here. It still counts, because it may be held down. */
  | (KeyRead & { readonly type: 'key' })
  | { readonly type: 'answered'; readonly now: number }
  | { readonly type: 'fallback'; readonly text: string; readonly now: number }
  | {
      readonly type: 'moment';
      readonly text: string;
      readonly moment: { readonly time: Date } | { readonly problem: string };
      readonly now: number;
    }
  | {
      readonly type: 'rejected';
      readonly text: string;
      readonly hints: readonly string[];
      readonly now: number;
    };

export type Effect =
  /** `lead` follows once the answer has ended the run. */
  | { readonly type: 'answer'; readonly answer: Answer; readonly lead?: AppEffect }
  /** Close the screen of the ended run and begin `effect`. */
  | { readonly type: 'lead'; readonly effect: AppEffect }
  /** Read a typed time; a `moment` action brings the result. */
  | { readonly type: 'read-moment'; readonly text: string }
  /** Fetch the fallback script; a `fallback` action brings it. */
  | { readonly type: 'fallback' }
  | { readonly type: 'wake' }
  /** Hand this to the app; the run goes on. */
  | { readonly type: 'app'; readonly effect: AppEffect }
  | { readonly type: 'leave' }
  | { readonly type: 'suspend' }
  | { readonly type: 'close' };

export type Step = readonly [UiState, Effect?];

export interface QuestionState {
  /** Which question this belongs to, as `questionKey` identifies it. */
  readonly key: string;
  /** Index into `rowsOf`. */
  readonly row: number;
  /** The option whose reason or evidence is being typed. */
  readonly option?: QuestionOption;
  /** Content of the field. If it is a secret, it must not be drawn. */
  readonly text: string;
  readonly cursor: number;
  /** Index of the recalled text, 0 being the newest; undefined for new text. */
  readonly recalled?: number;
  /** A secret was pasted with a line end behind it. */
  readonly lostLineEnd?: true;
  /** The first of two entries of a secret. */
  readonly first?: string;
  /** The reason for confirming without a second person; the name is still to be typed. */
  readonly breakGlass?: string;
  readonly picker?: Picker;
  /** Id of the follow-up whose ways are shown. */
  readonly opened?: string;
  readonly problem?: {
    readonly text: string;
    readonly hints: readonly string[];
  };
  /** The answer is being written to the journal. */
  readonly sending: boolean;
}

export interface Picker {
  /** Milliseconds since 1970; NaN if the question names no readable moment. */
  readonly at: number;
  readonly unit: Unit;
  /** The typed text that is being read. */
  readonly reading?: string;
}

/** Units that the arrows move by, from fine to coarse. */
export const UNITS = ['second', 'minute', 'hour'] as const;
type Unit = (typeof UNITS)[number];

export type Row =
  | { readonly kind: 'field' }
  | { readonly kind: 'followUp'; readonly followUp: FollowUpView }
  | { readonly kind: 'option'; readonly option: QuestionOption };

/** Where the cursor can stand: the field or open follow-ups, then options; or an opened follow-up's ways. */
export function rowsOf(question: QuestionView, opened?: string): readonly Row[] {
  const options = question.options.map((option): Row => ({ kind: 'option', option }));
  if (question.kind === 'choice') return options;
  if (question.kind !== 'followUps') return [{ kind: 'field' }, ...options];
  const followUp = openedOf(question, opened);
  if (followUp !== undefined)
    return waysOf(question, followUp).map((option): Row => ({ kind: 'option', option }));
  return [...question.open.map((followUp): Row => ({ kind: 'followUp', followUp })), ...options];
}

export function openedOf(question: QuestionView | undefined, opened: string | undefined) {
  if (question?.kind !== 'followUps' || opened === undefined) return undefined;
  return question.open.find(({ id }) => id === opened);
}

/** A question nothing was entered for yet: the cursor is on the field or on the recommended option. */
export function freshQuestion(question: QuestionView): QuestionState {
  const rows = rowsOf(question);
  const open = (row: Row) => row.kind !== 'option' || row.option.disabled === undefined;
  const recommended = rows.findIndex((row) => row.kind === 'option' && row.option.recommended && open(row));
  const first = rows.findIndex(open);
  const leads = question.kind === 'choice' || question.kind === 'followUps';
  const row = leads && recommended >= 0 ? recommended : Math.max(0, first);
  const state: QuestionState = { key: questionKey(question), row, text: '', cursor: 0, sending: false };
  if (question.kind !== 'time') return state;
  return { ...state, picker: { at: msOf(question.suggested), unit: 'minute' } };
}

export function inputOf(
  question: QuestionView,
  state: QuestionState,
): 'input' | 'reason' | 'picker' | 'reading' | 'ways' | 'choice' {
  if (state.option !== undefined) return 'reason';
  const row = rowsOf(question, state.opened)[state.row];
  if (row?.kind === 'field' && question.kind === 'time') return state.text === '' ? 'picker' : 'reading';
  if (row?.kind === 'field') return 'input';
  return openedOf(question, state.opened) === undefined ? 'choice' : 'ways';
}

/** The commands to copy, one a line: of the follow-up under the cursor or opened, or a failure's first. */
export function commandsAt(
  question: QuestionView | undefined,
  state: QuestionState | undefined,
): { readonly text: string; readonly what: string } | undefined {
  if (question === undefined || state === undefined) return undefined;
  if (question.kind === 'choice') {
    const first = question.trouble?.commands[0]?.command;
    return first === undefined ? undefined : { text: first, what: `the command: ${first}` };
  }
  const row = rowsOf(question, state.opened)[state.row];
  const followUp = openedOf(question, state.opened) ?? (row?.kind === 'followUp' ? row.followUp : undefined);
  if (followUp === undefined || followUp.commands.length === 0) return undefined;
  const { commands, subject } = followUp;
  return { text: commands.join('\n'), what: `${counted(commands.length, 'command')} for ${subject}` };
}

/** The suggested way on from a failure or from a stopped run; undefined if the run is only watched. */
export function wayAt({
  question,
  outcome,
  watched,
}: Pick<RunView, 'question' | 'outcome' | 'watched'>): WayOn['leadsTo'] {
  if (watched !== undefined) return undefined;
  const trouble = question?.kind === 'choice' ? question.trouble : undefined;
  const ways = outcome === undefined ? trouble?.commands : outcome.ways;
  return ways?.find(({ leadsTo }) => leadsTo !== undefined)?.leadsTo;
}

/** For where no recovery can be begun: the view without the keys for it. The commands stay. */
export function withoutRecoveries(view: RunView): RunView {
  const { question, outcome } = view;
  const isAway = ({ leadsTo }: WayOn) => leadsTo?.kind === 'recover';
  const shown = (ways: readonly WayOn[]): readonly WayOn[] =>
    ways.map((way) => (isAway(way) ? { when: way.when, command: way.command } : way));
  if (outcome?.ways?.some(isAway)) return { ...view, outcome: { ...outcome, ways: shown(outcome.ways) } };
  const trouble = question?.kind === 'choice' ? question.trouble : undefined;
  if (question?.kind !== 'choice' || !trouble?.commands.some(isAway)) return view;
  const commands = shown(trouble.commands);
  return { ...view, question: { ...question, trouble: { ...trouble, commands } } };
}

/** The effect of taking a way. It only opens a page or a prompt, which asks before anything begins. */
export function effectOf(way: NonNullable<WayOn['leadsTo']>): AppEffect {
  const { kind, instance } = way;
  if (kind === 'add-key') return { type: 'add-key', instance };
  const target = way.target === undefined ? {} : { target: way.target };
  return { type: 'open', screen: { name: 'start', situation: 'region-gone', instance, ...target } };
}

/**
 * How long after a key press its first automatic repeat may come. Keyboards wait up to 660 ms (the default of
 * X11; 500 ms elsewhere), and then repeat every 30 to 100 ms.
 */
export const FIRST_REPEAT_MS = 700;

/**
 * Nothing new and no other key for `QUIET_MS` before it, and not the first repeat of the key that led here. A
 * held key never gets through: each repeat restarts the wait. Keys may be buffered, so the wait counts from
 * reading the previous key to the earliest time at which this one was pressed: never overestimated.
 */
export function isMeant({ quietSince, before }: Keyboard, read: KeyRead): boolean {
  if (quietSince === undefined) return true;
  const { key, isHeld, now, since = now } = read;
  if (isHeld === true || since - quietSince < QUIET_MS) return false;
  return before?.key !== key || since - before.at >= FIRST_REPEAT_MS;
}

/** After this time every key counts as meant, so when exactly it was pressed no longer matters. */
export function judgedUntil({ quietSince, before }: Keyboard): number {
  if (quietSince === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(quietSince + QUIET_MS, before === undefined ? 0 : before.at + FIRST_REPEAT_MS);
}

export function withKey(keyboard: Keyboard, read: KeyRead): Keyboard {
  const last: Press = { key: read.key, at: read.now };
  return isMeant(keyboard, read) ? { last } : { last, quietSince: read.now };
}

/** Restarts the wait because something new appeared on the screen. */
export function withNewToRead({ last }: Keyboard, now: number): Keyboard {
  return { ...(last !== undefined && { last, before: last }), quietSince: now };
}
