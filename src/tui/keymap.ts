/**
 * Every key of the terminal UI. The footer, the help and the handling all come from this table; nothing else names a key.
 */

/** What the keyboard talks to at a moment; found from the state by `modeOf`. */
export type Mode = 'watch' | 'choice' | 'input' | 'over' | 'leave' | 'help';

/** What the operator wants. */
export type Intent =
  | 'up'
  | 'down'
  | 'choose'
  | 'submit'
  | 'back'
  | 'erase'
  | 'clear'
  | 'page-down'
  | 'page-up'
  | 'grow-log'
  | 'wake'
  | 'help'
  | 'ask-leave'
  | 'leave-now'
  | 'stay'
  | 'close-help'
  | 'close';

export interface Binding {
  readonly intent: Intent;
  /** Names as `keyOf` gives them. */
  readonly keys: readonly string[];
  readonly modes: readonly Mode[];
  /** For the footer and the help: `up/down`. Empty where another binding speaks for this one. */
  readonly shown: string;
  readonly label: string;
  readonly description: string;
  /** In the footer always, never, or only while something may wait for credentials. */
  readonly onScreen: 'always' | 'never' | 'paused';
}

export const KEYMAP: readonly Binding[] = [
  {
    intent: 'choose',
    keys: ['enter'],
    modes: ['choice', 'leave'],
    shown: 'Enter',
    label: 'choose',
    description: 'take the answer under the cursor',
    onScreen: 'always',
  },
  {
    intent: 'submit',
    keys: ['enter'],
    modes: ['input'],
    shown: 'Enter',
    label: 'confirm',
    description: 'give what was typed; an empty line gives nothing',
    onScreen: 'always',
  },
  {
    intent: 'close',
    keys: ['enter', 'q', 'escape', 'ctrl+c'],
    modes: ['over'],
    shown: 'Enter q',
    label: 'close',
    description: 'close the screen of a run that is over',
    onScreen: 'always',
  },
  {
    intent: 'up',
    keys: ['up', 'k'],
    modes: ['choice', 'leave'],
    shown: '',
    label: 'up',
    description: 'move to the answer above',
    onScreen: 'never',
  },
  {
    intent: 'down',
    keys: ['down', 'j'],
    modes: ['choice', 'leave'],
    shown: 'up/down',
    label: 'move',
    description: 'move between the answers; k and j do the same',
    onScreen: 'always',
  },
  {
    intent: 'up',
    keys: ['up'],
    modes: ['input'],
    shown: '',
    label: 'up',
    description: 'move out of the field, upwards',
    onScreen: 'never',
  },
  {
    intent: 'down',
    keys: ['down'],
    modes: ['input'],
    shown: 'down',
    label: 'other answers',
    description: 'move out of the field to the other answers',
    onScreen: 'always',
  },
  {
    intent: 'erase',
    keys: ['backspace'],
    modes: ['input'],
    shown: 'Backspace',
    label: 'erase',
    description: 'take back the last character',
    onScreen: 'never',
  },
  {
    intent: 'clear',
    keys: ['ctrl+u'],
    modes: ['input'],
    shown: 'Ctrl-U',
    label: 'clear',
    description: 'empty the field',
    onScreen: 'never',
  },
  {
    intent: 'back',
    keys: ['escape'],
    modes: ['input'],
    shown: 'Esc',
    label: 'back',
    description: 'leave the field; out of an empty one, ask whether to leave the run',
    onScreen: 'always',
  },
  {
    intent: 'page-down',
    keys: ['tab', 'pagedown'],
    modes: ['watch', 'choice', 'input', 'over', 'help'],
    shown: 'Tab',
    label: 'more text',
    description: 'the next page of the text; after the last, the first again',
    onScreen: 'always',
  },
  {
    intent: 'page-up',
    keys: ['pageup'],
    modes: ['watch', 'choice', 'input', 'over', 'help'],
    shown: 'PgUp',
    label: 'back in the text',
    description: 'the page before in the text',
    onScreen: 'never',
  },
  {
    intent: 'grow-log',
    keys: ['l'],
    modes: ['watch', 'choice', 'over'],
    shown: 'l',
    label: 'log',
    description: 'show more of the log, or less',
    onScreen: 'always',
  },
  {
    intent: 'wake',
    keys: ['r'],
    modes: ['watch', 'choice'],
    shown: 'r',
    label: 'try again',
    description: 'try again what waits for credentials',
    onScreen: 'paused',
  },
  {
    intent: 'help',
    keys: ['?'],
    modes: ['watch', 'choice', 'over'],
    shown: '?',
    label: 'help',
    description: 'this help',
    onScreen: 'always',
  },
  {
    intent: 'close-help',
    keys: ['?', 'escape', 'q', 'enter'],
    modes: ['help'],
    shown: 'Esc',
    label: 'close help',
    description: 'close this help',
    onScreen: 'always',
  },
  {
    intent: 'ask-leave',
    keys: ['q', 'escape', 'ctrl+c'],
    modes: ['watch', 'choice'],
    shown: 'q',
    label: 'leave',
    description: 'leave the run behind; it stays open and can be resumed',
    onScreen: 'always',
  },
  {
    intent: 'ask-leave',
    keys: ['ctrl+c'],
    modes: ['input', 'help'],
    shown: 'Ctrl-C',
    label: 'leave',
    description: 'leave the run behind, from a field too; twice leaves at once',
    onScreen: 'always',
  },
  {
    intent: 'stay',
    keys: ['escape', 'q'],
    modes: ['leave'],
    shown: 'Esc',
    label: 'stay',
    description: 'go on with the run',
    onScreen: 'always',
  },
  {
    intent: 'leave-now',
    keys: ['ctrl+c'],
    modes: ['leave'],
    shown: 'Ctrl-C',
    label: 'leave at once',
    description: 'leave without another question',
    onScreen: 'always',
  },
];

/** What a key means in a mode; nothing when it means nothing. */
export function intentOf(mode: Mode, key: string): Intent | undefined {
  return KEYMAP.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;
}

/** The bindings for the footer of a mode, the most needed first. */
export function footerBindings(mode: Mode, isPaused: boolean): readonly Binding[] {
  return KEYMAP.filter(
    ({ modes, onScreen }) =>
      modes.includes(mode) && (onScreen === 'always' || (onScreen === 'paused' && isPaused)),
  );
}

/** The bindings for the help: everything but the keys of the dialogues, which say themselves what they do. */
export function helpBindings(): readonly Binding[] {
  return KEYMAP.filter(
    ({ modes, shown }) => shown !== '' && modes.some((mode) => mode !== 'leave' && mode !== 'help'),
  );
}
