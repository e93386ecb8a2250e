import { FIELD_KEYS, type FieldIntent } from '../../parts/field.ts';
import type { Binding, Mode } from './key-binding.ts';

/** Where a field has the cursor. */
const FIELDS: readonly Mode[] = ['input', 'reason', 'reading', 'log-filter'];

/** What the help says of the keys of a field; those without words are spoken for by another one. */
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

/** Keys that change a field, as readline and most shells have them. */
export const EDITING: readonly Binding[] = [
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

/** Keys of the picker of a moment. */
export const PICKING: readonly Binding[] = [
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
