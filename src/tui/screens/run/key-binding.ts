import type { FieldIntent } from '../../parts/field.ts';

/** What keys act on at the moment, as `modeOf` finds it. */
export type Mode =
  | 'watch'
  | 'looking'
  | 'choice'
  | 'ways'
  | 'input'
  /** An input whose window is too small to show the stakes: it takes no text. */
  | 'shut'
  /** The field of an option that needs a reason or evidence. */
  | 'reason'
  | 'picker'
  /** The text field of a picker that is not empty. */
  | 'reading'
  | 'over'
  | 'leave'
  | 'help'
  | 'fallback'
  /** The whole log over the run, and the field of its filter. */
  | 'log'
  | 'log-filter'
  | 'step';

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
  | 'close'
  | 'leave-drill';

export interface Binding {
  readonly intent: Intent;
  /** Key names as `keyOf` returns them. */
  readonly keys: readonly string[];
  readonly modes: readonly Mode[];
  /** How the footer and the help show it: `up/down`. Empty if another binding covers it. */
  readonly shown: string;
  /** `{unit}` is replaced by the unit that the picker moves by. */
  readonly label: string;
  readonly description: string;
  /**
   * When the footer shows it: always, never, while the run may wait for credentials, if there is a command to
   * copy, if a way leads on, if the app has a palette, if a watched run can be taken over, or in a drill.
   */
  readonly onScreen: 'always' | 'never' | 'paused' | 'command' | 'way' | 'palette' | 'free' | 'drill';
}
