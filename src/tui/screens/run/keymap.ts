import { FIELD_KEYS, type FieldIntent } from '../../parts/field.ts';
import type { Binding, Intent, Mode } from './key-binding.ts';
import { AROUND, ENDING, LOOKING, TAKE_OVER, WATCHING } from './keys-looking.ts';

const ANSWERING: readonly Binding[] = [
  {
    intent: 'choose',
    keys: ['enter'],
    modes: ['choice', 'ways', 'leave'],
    shown: 'Enter',
    label: 'choose',
    description: 'choose the selected answer',
    onScreen: 'always',
  },
  {
    intent: 'submit',
    keys: ['enter'],
    modes: ['input', 'reason'],
    shown: 'Enter',
    label: 'confirm',
    description: 'send what you typed; an empty field sends nothing',
    onScreen: 'always',
  },
  {
    intent: 'submit',
    keys: ['enter'],
    modes: ['reading'],
    shown: 'Enter',
    label: 'read it',
    description: 'set the picker to the time you typed; Enter again takes it',
    onScreen: 'always',
  },
  {
    intent: 'lead-on',
    keys: ['w'],
    modes: ['choice', 'over'],
    shown: 'w',
    label: 'suggestion',
    description:
      'start the suggested command after a failure; it asks first, and says what happens to this run',
    onScreen: 'way',
  },
  {
    intent: 'copy',
    keys: ['y'],
    modes: ['choice', 'ways'],
    shown: 'y',
    label: 'copy command',
    description: 'copy the commands of the follow-up under the cursor, or the first one about a failure',
    onScreen: 'command',
  },
  {
    intent: 'up',
    keys: ['up', 'k'],
    modes: ['choice', 'ways', 'leave'],
    shown: '',
    label: 'up',
    description: 'move to the answer above',
    onScreen: 'never',
  },
  {
    intent: 'down',
    keys: ['down', 'j'],
    modes: ['choice', 'ways', 'leave'],
    shown: 'up/down',
    label: 'move',
    description: 'move between the answers; k and j do the same',
    onScreen: 'always',
  },
  {
    intent: 'up',
    keys: ['up'],
    modes: ['input', 'reading', 'shut'],
    shown: '',
    label: 'up',
    description: 'leave the field upwards',
    onScreen: 'never',
  },
  {
    intent: 'down',
    keys: ['down'],
    modes: ['input', 'reading', 'shut'],
    shown: 'down',
    label: 'other answers',
    description: 'leave the field for the other answers',
    onScreen: 'always',
  },
  {
    intent: 'back',
    keys: ['escape'],
    modes: ['input', 'reason', 'reading', 'ways', 'shut'],
    shown: 'Esc',
    label: 'back',
    description: 'go back one level; at the top, ask whether to leave the run',
    onScreen: 'always',
  },
];

const FIELDS: readonly Mode[] = ['input', 'reason', 'reading', 'log-filter'];

/** Help texts for the keys of a field; a key with an empty text is covered by another one. */
const WORDS: Readonly<Record<FieldIntent, readonly [shown: string, description: string]>> = {
  erase: ['Backspace', 'delete the character before the cursor'],
  'erase-next': ['Delete', 'delete the character under the cursor'],
  'erase-word': ['Ctrl-W', 'delete the word before the cursor'],
  clear: ['Ctrl-U', 'clear the field'],
  left: ['', 'move the cursor to the left'],
  right: ['left/right', 'move the cursor in the field; with Ctrl, by a word'],
  'word-left': ['', 'move the cursor to the word before'],
  'word-right': ['', 'move the cursor to the end of the word'],
  begin: ['', 'move the cursor to the beginning'],
  end: ['Home/End', 'move the cursor to the beginning or to the end of the field'],
};

const EDITING: readonly Binding[] = [
  ...FIELD_KEYS.map(({ intent, keys }): Binding => {
    const [shown, description] = WORDS[intent];
    return { intent, keys, modes: FIELDS, shown, label: intent, description, onScreen: 'never' };
  }),
  {
    intent: 'older-text',
    keys: ['up', 'ctrl+p'],
    modes: ['reason'],
    shown: '',
    label: 'older',
    description: 'recall the text entered before',
    onScreen: 'never',
  },
  {
    intent: 'newer-text',
    keys: ['down', 'ctrl+n'],
    modes: ['reason'],
    shown: 'up/down',
    label: 'recall text',
    description: 'recall text that was entered before in this run',
    onScreen: 'never',
  },
];

const PICKING: readonly Binding[] = [
  {
    intent: 'submit',
    keys: ['enter'],
    modes: ['picker'],
    shown: 'Enter',
    label: 'take it',
    description: 'answer with the time in the picker; typed text only sets the picker',
    onScreen: 'always',
  },
  {
    intent: 'earlier',
    keys: ['left'],
    modes: ['picker'],
    shown: '',
    label: 'earlier',
    description: 'move the time back',
    onScreen: 'never',
  },
  {
    intent: 'later',
    keys: ['right'],
    modes: ['picker'],
    shown: 'left/right',
    label: '1 {unit}',
    description: 'move the time by one unit, within its range',
    onScreen: 'always',
  },
  {
    intent: 'coarser',
    keys: ['up'],
    modes: ['picker'],
    shown: 'up/down',
    label: 'unit',
    description: 'choose the unit: hour, minute or second; the other answers are below',
    onScreen: 'always',
  },
  {
    intent: 'finer',
    keys: ['down'],
    modes: ['picker'],
    shown: '',
    label: 'finer',
    description: 'move by a smaller unit',
    onScreen: 'never',
  },
  {
    intent: 'first',
    keys: ['home'],
    modes: ['picker'],
    shown: 'Home/End',
    label: 'edges',
    description: 'earliest and latest time that can be chosen',
    onScreen: 'always',
  },
  {
    intent: 'last',
    keys: ['end'],
    modes: ['picker'],
    shown: '',
    label: 'latest',
    description: 'latest time that can be chosen',
    onScreen: 'never',
  },
  {
    intent: 'ask-leave',
    keys: ['escape', 'ctrl+c'],
    modes: ['picker'],
    shown: 'Esc',
    label: 'leave',
    description: 'leave the run, from the picker',
    onScreen: 'always',
  },
];

/** Every key of the run screen, the most needed first. Footer, help and key handling all use this table. */
export const KEYMAP: readonly Binding[] = [
  ...PICKING,
  ...ANSWERING,
  ...EDITING,
  ...ENDING,
  ...LOOKING,
  ...AROUND,
  ...WATCHING,
];

export function intentOf(mode: Mode, key: string): Intent | undefined {
  return KEYMAP.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;
}

export function footerBindings(
  mode: Mode,
  {
    isPaused,
    hasCommand,
    hasWay,
    hasPalette,
    isFree,
    isInDrill,
  }: {
    readonly isPaused: boolean;
    readonly hasCommand: boolean;
    readonly hasWay: boolean;
    readonly hasPalette: boolean;
    readonly isFree: boolean;
    readonly isInDrill: boolean;
  },
): readonly Binding[] {
  const isShown = {
    always: true,
    never: false,
    paused: isPaused,
    command: hasCommand,
    way: hasWay,
    palette: hasPalette,
    free: isFree,
    drill: isInDrill,
  };
  return KEYMAP.filter(({ modes, onScreen }) => modes.includes(mode) && isShown[onScreen]);
}

export function bindingsIn(mode: Mode): readonly Binding[] {
  return KEYMAP.filter(({ modes, shown }) => shown !== '' && modes.includes(mode));
}

/** The bindings for the documents, without those of overlays, which explain themselves. */
export function helpBindings(): readonly Binding[] {
  const all = [...ANSWERING, ...ENDING, ...LOOKING, ...AROUND, ...EDITING, ...PICKING].filter(
    ({ modes, shown }) => shown !== '' && modes.some((mode) => !OVER_A_RUN.has(mode)),
  );
  return [...all, TAKE_OVER];
}

const OVER_A_RUN: ReadonlySet<Mode> = new Set<Mode>([
  'leave',
  'help',
  'fallback',
  'log',
  'log-filter',
  'step',
  'looking',
]);
