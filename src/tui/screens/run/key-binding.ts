import type { FieldIntent } from '../../parts/field.ts';

/** What the keyboard talks to at a moment; found from the state by `modeOf`. */
export type Mode =
  | 'watch'
  /** Somebody else drives the run. */
  | 'looking'
  | 'choice'
  | 'ways'
  /** A field that answers the question. */
  | 'input'
  /** The same in a window that has no room for what its answer costs: it takes nothing. */
  | 'shut'
  /** The field of an answer that needs words. */
  | 'reason'
  | 'picker'
  /** The field of a picker, with something in it. */
  | 'reading'
  | 'over'
  | 'leave'
  | 'help'
  | 'fallback'
  /** The whole log, over the run; and the field of its filter. */
  | 'log'
  | 'log-filter'
  /** A step of the rail, over the run. */
  | 'step';

/** What the operator wants. */
export type Intent =
  | 'up'
  | 'down'
  | 'choose'
  | 'submit'
  | 'back'
  | FieldIntent
  | 'older-text'
  | 'newer-text'
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
  | 'log'
  | 'close-look'
  | 'filter'
  | 'keep-filter'
  | 'drop-filter'
  | 'text-first'
  | 'text-last'
  | 'enlarge'
  | 'step-before'
  | 'step-after'
  | 'report'
  | 'copy-command'
  | 'copy-anchor'
  | 'wake'
  | 'copy'
  | 'lead-on'
  | 'help'
  | 'palette'
  | 'ask-leave'
  | 'leave-now'
  | 'suspend'
  | 'stay'
  | 'close-help'
  | 'take-over'
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
  /**
   * In the footer always, never, while something may wait for credentials, where there is a command, where a
   * way leads on, where the app has a palette, or where a run that is watched can be taken over.
   */
  readonly onScreen: 'always' | 'never' | 'paused' | 'command' | 'way' | 'palette' | 'free';
}
