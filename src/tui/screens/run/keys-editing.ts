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
  'word-right': ['', 'move the cursor behind the word'],
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
    description: 'put the words given before into the field',
    onScreen: 'never',
  },
  {
    intent: 'newer-text',
    keys: ['down', 'ctrl+n'],
    modes: ['reason'],
    shown: 'up/down',
    label: 'words given before',
    description: 'put words that were given before in this run into the field',
    onScreen: 'never',
  },
];
