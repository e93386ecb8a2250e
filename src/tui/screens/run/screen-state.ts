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

/** All that the screen depends on, apart from its size. */
export interface UiState {
  readonly view: RunView;
  /** `lead`: whether to stop this run for another one. */
  readonly overlay: 'none' | 'help' | 'leave' | 'lead' | 'fallback' | 'log' | 'step';
  readonly fallback?: string;
  readonly leaveRow: number;
  /** Shown log entries must contain it. */
  readonly filter: Field;
  readonly isFiltering: boolean;
  /** Over the run. */
  readonly stepRow: number;
  /** Of the text. */
  readonly scroll: number;
  readonly question?: QuestionState;
  /** In this run, the newest first. Never a name or a secret. */
  readonly given: readonly string[];
  readonly keyboard: Keyboard;
  readonly hasPalette?: boolean | undefined;
}

/** By the clock that stamps the actions. */
export interface Press {
  readonly key: string;
  readonly at: number;
}

export interface Keyboard {
  readonly last?: Press;
  /** Nothing new, no key press since; undefined once answered. */
  readonly quietSince?: number;
  /** The last before it appeared, until another one comes. */
  readonly before?: Press;
}

/** In milliseconds of the clock that stamps the actions. */
export interface KeyRead {
  /** As `keyOf` returns it. */
  readonly key: string;
  /** Several times in one read, like repeats of a held key. */
  readonly isHeld?: boolean;
  readonly now: number;
  /** Pressed then or later. Default: `now`. */
  readonly since?: number;
}

export type Action =
  | { readonly type: 'view'; readonly view: RunView; readonly now: number }
  | (KeyRead & { readonly type: 'intent'; readonly intent: Intent; readonly page: Page })
  | (KeyRead & { readonly type: 'text'; readonly text: string })
  /** Counts, though without a meaning: it may be held down. */
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
  /** Closes the ended run's screen first. */
  | { readonly type: 'lead'; readonly effect: AppEffect }
  /** A `moment` action brings the result. */
  | { readonly type: 'read-moment'; readonly text: string }
  /** A `fallback` action brings it. */
  | { readonly type: 'fallback' }
  | { readonly type: 'wake' }
  /** The run goes on. */
  | { readonly type: 'app'; readonly effect: AppEffect }
  | { readonly type: 'leave' }
  | { readonly type: 'suspend' }
  | { readonly type: 'close' };

export type Step = readonly [UiState, Effect?];

export interface QuestionState {
  /** By `questionKey`. */
  readonly key: string;
  /** Into `rowsOf`. */
  readonly row: number;
  /** Whose reason or evidence is being typed. */
  readonly option?: QuestionOption;
  /** A secret must not be drawn. */
  readonly text: string;
  readonly cursor: number;
  /** 0 is the newest; undefined for new text. */
  readonly recalled?: number;
  /** Dropped from a pasted secret. */
  readonly lostLineEnd?: true;
  /** Of a secret entered twice. */
  readonly first?: string;
  /** For no second person; the name is still to be typed. */
  readonly breakGlass?: string;
  readonly picker?: Picker;
  /** Whose ways are shown. */
  readonly opened?: string;
  readonly problem?: {
    readonly text: string;
    readonly hints: readonly string[];
  };
  readonly sending: boolean;
}

export interface Picker {
  /** Milliseconds since 1970; NaN without a readable moment. */
  readonly at: number;
  readonly unit: Unit;
  /** Is being read. */
  readonly reading?: string;
}

/** From fine to coarse. */
export const UNITS = ['second', 'minute', 'hour'] as const;
type Unit = (typeof UNITS)[number];

export type Row =
  | { readonly kind: 'field' }
  | { readonly kind: 'followUp'; readonly followUp: FollowUpView }
  | { readonly kind: 'option'; readonly option: QuestionOption };

/** For the cursor: the field or open follow-ups, then the options; of an opened follow-up, its ways. */
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

/** The cursor is on the field or the recommended option. */
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

/** To copy, one a line: of the follow-up under the cursor or opened, or the first about a failure. */
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

/** From a failure or a stopped run; undefined if only watched. */
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

/** For where no recovery can be begun: the commands stay, without a key. */
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

/** Only opens a page or prompt, which asks first. */
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

/** Then every key counts as meant, whenever it was pressed. */
export function judgedUntil({ quietSince, before }: Keyboard): number {
  if (quietSince === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(quietSince + QUIET_MS, before === undefined ? 0 : before.at + FIRST_REPEAT_MS);
}

export function withKey(keyboard: Keyboard, read: KeyRead): Keyboard {
  const last: Press = { key: read.key, at: read.now };
  return isMeant(keyboard, read) ? { last } : { last, quietSince: read.now };
}

/** Something new appeared. */
export function withNewToRead({ last }: Keyboard, now: number): Keyboard {
  return { ...(last !== undefined && { last, before: last }), quietSince: now };
}
