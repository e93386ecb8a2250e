/** What the keyboard talks to at a moment; found from the state by `modeOf`. */
export type Mode =
  | 'watch'
  | 'choice'
  | 'ways'
  /** A field that answers the question. */
  | 'input'
  /** The field of an answer that needs words. */
  | 'reason'
  | 'picker'
  /** The field of a picker, with something in it. */
  | 'reading'
  | 'over'
  | 'leave'
  | 'help'
  | 'fallback';

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
  | 'line-up'
  | 'line-down'
  | 'earlier'
  | 'later'
  | 'coarser'
  | 'finer'
  | 'first'
  | 'last'
  | 'fallback'
  | 'close-fallback'
  | 'grow-log'
  | 'wake'
  | 'help'
  | 'ask-leave'
  | 'leave-now'
  | 'suspend'
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
  /** `{unit}` stands for what the arrows of the picker move by. */
  readonly label: string;
  readonly description: string;
  /** In the footer always, never, or only while something may wait for credentials. */
  readonly onScreen: 'always' | 'never' | 'paused';
}
