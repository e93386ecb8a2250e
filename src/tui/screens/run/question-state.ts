import { counted } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import { waysOf } from '../../../view/follow-up-words.ts';
import { questionKey } from '../../../view/question-words.ts';
import type { FollowUpView, QuestionOption, QuestionView, RunView, WayOn } from '../../../view/run-view.ts';
import type { AppEffect } from '../../live-screen.ts';

/** What the operator has done about the question on the screen. */
export interface QuestionState {
  /** Which question this is about; see `questionKey`. */
  readonly key: string;
  /** Index into `rowsOf`. */
  readonly row: number;
  /** The option whose reason or evidence is being typed. */
  readonly option?: QuestionOption;
  /** What stands in the field. For a secret it must not reach the screen. */
  readonly text: string;
  /** Before which of its characters the cursor is; see `Field`. */
  readonly cursor: number;
  /** How many of the words given before are between these and the newest; undefined for own words. */
  readonly recalled?: number;
  /** A secret was pasted with a line end behind it. */
  readonly lostLineEnd?: true;
  /** The first of two entries of a secret. */
  readonly first?: string;
  /** Why the name is going to be confirmed without a second person; typing it is still to come. */
  readonly breakGlass?: string;
  /** Where the picker of a moment stands. */
  readonly picker?: Picker;
  /** The follow-up whose ways are shown. */
  readonly opened?: string;
  readonly problem?: {
    readonly text: string;
    readonly hints: readonly string[];
  };
  /** The answer is on its way to the journal. */
  readonly sending: boolean;
}

export interface Picker {
  /** Milliseconds since 1970; not a number when the question names no moment that can be read. */
  readonly at: number;
  readonly unit: Unit;
  /** The text that is being read at this moment. */
  readonly reading?: string;
}

/** What the arrows move by, from fine to coarse. */
export const UNITS = ['second', 'minute', 'hour'] as const;
export type Unit = (typeof UNITS)[number];

export type Row =
  | { readonly kind: 'field' }
  | { readonly kind: 'followUp'; readonly followUp: FollowUpView }
  | { readonly kind: 'option'; readonly option: QuestionOption };

/**
 * The rows the cursor can stand on: the field or the open follow-ups, then the options. An opened follow-up
 * has only its ways.
 */
export function rowsOf(question: QuestionView, opened?: string): readonly Row[] {
  const options = question.options.map((option): Row => ({ kind: 'option', option }));
  if (question.kind === 'choice') return options;
  if (question.kind !== 'followUps') return [{ kind: 'field' }, ...options];
  const followUp = openedOf(question, opened);
  if (followUp !== undefined)
    return waysOf(question, followUp).map((option): Row => ({ kind: 'option', option }));
  return [...question.open.map((followUp): Row => ({ kind: 'followUp', followUp })), ...options];
}

/** The follow-up whose ways are shown, if one is. */
export function openedOf(question: QuestionView | undefined, opened: string | undefined) {
  if (question?.kind !== 'followUps' || opened === undefined) return undefined;
  return question.open.find(({ id }) => id === opened);
}

/** A question nobody has touched yet: the cursor on the field, or on the recommended option. */
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

/** What the keyboard does to a question: type text, move a moment, close a follow-up, or choose. */
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

/**
 * The commands to copy at this moment, one a line: those of the follow-up under the cursor or opened, or the
 * first about a failure; undefined where there is none.
 */
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

/**
 * What leads on from the failure that is asked about, or that the run was stopped at; nothing from a run that
 * is only looked at.
 */
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

/** The same without a recovery as what a key begins: where none can be begun, the command alone is shown. */
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

/** What the app does where a way leads. Nothing is begun by it: the page asks, and the terminal is asked. */
export function effectOf(way: NonNullable<WayOn['leadsTo']>): AppEffect {
  const { kind, instance } = way;
  if (kind === 'add-key') return { type: 'add-key', instance };
  const target = way.target === undefined ? {} : { target: way.target };
  return { type: 'open', screen: { name: 'start', situation: 'region-gone', instance, ...target } };
}
