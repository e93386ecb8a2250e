import { type Around, type BoundKey, footerKey } from '../../live-screen.ts';
import { EDITING_KEYS, type FieldIntent, PALETTE_KEY } from '../../parts/field.ts';
import { cursorAt, filtered, type ListIntent, type ListState, listKeys } from '../../parts/list.ts';
import { type Choice, tableOf } from './rows.ts';
import type { State } from './state.ts';
import { momentProblem, momentQuestion, notChosenYet, noWindowOf, typedMoment } from './state.ts';

export type Intent =
  | 'choose'
  | 'step-back'
  | 'start'
  | 'copy'
  | 'scroll-down'
  | 'scroll-up'
  | 'page-on'
  | 'page-back'
  | `pick:${PickIntent}`
  | `edit:${FieldIntent}`
  | ListIntent;

export type PickIntent = 'earlier' | 'later' | 'coarser' | 'finer' | 'first' | 'last';

const HIDDEN = { shown: '', label: '', inFooter: false } as const;

export function keysOf(state: State, around: Around): readonly BoundKey<Intent>[] {
  switch (state.step) {
    case 'incident':
      return [
        submit(incidentProblem(state, around), state.field.text.trim() === '' ? 'not known' : 'take it'),
        ...EDITING,
        PALETTE_KEY,
        backKey(state),
      ];
    case 'moment':
      return momentKeys(state, around);
    case 'check':
      return [START, COPY, ...SCROLLING, backKey(state)];
    default: {
      if (state.list.isFiltering) return listKeys(state.list);
      const keys = listKeys(state.list);
      const choice = chosenRow(state, around);
      const why = choice === undefined ? 'no row is chosen' : choice.disabled;
      // Esc clears the filter first.
      const back = state.list.filter.text === '' ? [backKey(state)] : [];
      return [submit(why, 'choose'), ...keys, ...back];
    }
  }
}

export function isTyping({ step, list }: State): boolean {
  return step === 'incident' || step === 'moment' || list.isFiltering;
}

/** The rows that match the filter, and the list with its cursor on one of them. */
export function shownRows(
  state: State,
  around: Pick<Around, 'facts'>,
): { readonly rows: readonly Choice[]; readonly list: ListState } {
  const { list } = state;
  const rows = filtered(tableOf(state, around)?.rows ?? [], list, ({ text }) => text);
  const isThere = rows.some(({ key }) => key === list.cursor);
  if (isThere || list.isPlaced) return { rows, list };
  const first = rows.find(({ disabled }) => disabled === undefined) ?? rows[0];
  return { rows, list: { ...list, cursor: first?.key } };
}

export function chosenRow(state: State, around: Pick<Around, 'facts'>): Choice | undefined {
  const { rows, list } = shownRows(state, around);
  return rows[
    cursorAt(
      list,
      rows.map(({ key }) => key),
    )
  ];
}

function submit(disabled: string | undefined, label: string): BoundKey<Intent> {
  return {
    intent: 'choose',
    keys: ['enter'],
    shown: 'Enter',
    label,
    description: 'take this answer, and go on to what is asked next',
    inFooter: true,
    disabled,
  };
}

function incidentProblem(state: State, around: Around): string | undefined {
  return state.field.text.trim() === '' ? undefined : momentProblem(typedMoment(state, around));
}

function momentKeys(state: State, around: Around): readonly BoundKey<Intent>[] {
  const question = momentQuestion(state, around);
  if (question === undefined) {
    const isAsking = noWindowOf(state, around) === undefined;
    return [
      submit(isAsking ? 'the range is still being read' : undefined, 'go on without'),
      PALETTE_KEY,
      backKey(state),
    ];
  }
  if (state.field.text.trim() !== '')
    return [
      submit(momentProblem(typedMoment(state, around), question), 'set the picker'),
      ...EDITING,
      PALETTE_KEY,
      backKey(state),
    ];
  // The field is empty, so its keys move the picker.
  return [submit(notChosenYet(state), 'take it'), ...PICKING, PALETTE_KEY, backKey(state)];
}

function backKey({ past }: State): BoundKey<Intent> {
  return footerKey(
    'escape',
    'step-back',
    past.length === 0 ? 'leave' : 'a step back',
    past.length === 0 ? 'leave; nothing was started' : 'go back to what was asked before',
  );
}

const START: BoundKey<Intent> = footerKey(
  'enter',
  'start',
  'start',
  'start the run; it asks for the name before it destroys anything',
);

const COPY: BoundKey<Intent> = footerKey('y', 'copy', 'copy', 'copy the command that starts the same run');

const SCROLLING: readonly BoundKey<Intent>[] = [
  {
    intent: 'page-on',
    keys: ['tab', 'pagedown', ' '],
    shown: 'Tab',
    label: 'more',
    description: 'show the next page; after the last one the first',
    inFooter: true,
  },
  { ...HIDDEN, intent: 'page-back', keys: ['pageup'], description: 'show the page before' },
  {
    intent: 'scroll-down',
    keys: ['down', 'j'],
    shown: 'up/down',
    label: 'scroll',
    description: 'move by a row (also j and k)',
    inFooter: false,
  },
  { ...HIDDEN, intent: 'scroll-up', keys: ['up', 'k'], description: 'move back by a row' },
];

const PICKING: readonly BoundKey<Intent>[] = [
  {
    intent: 'pick:later',
    keys: ['right'],
    shown: 'left/right',
    label: 'move',
    description: 'move the time by one unit, within its range',
    inFooter: true,
  },
  { ...HIDDEN, intent: 'pick:earlier', keys: ['left'], description: 'move the time back' },
  {
    intent: 'pick:coarser',
    keys: ['up'],
    shown: 'up/down',
    label: 'unit',
    description: 'choose the unit: hour, minute or second',
    inFooter: true,
  },
  { ...HIDDEN, intent: 'pick:finer', keys: ['down'], description: 'move by a smaller unit' },
  {
    intent: 'pick:first',
    keys: ['home'],
    shown: 'Home/End',
    label: 'edges',
    description: 'go to the earliest or the latest time that can be chosen',
    inFooter: true,
  },
  { ...HIDDEN, intent: 'pick:last', keys: ['end'], description: 'go to the latest time' },
];

const EDITING: readonly BoundKey<Intent>[] = EDITING_KEYS.map((key) => ({
  ...key,
  intent: `edit:${key.intent}` as const,
}));
