import type { FieldIntent } from '../../parts/field.ts';

/** As `modeOf` finds it. */
export type Mode =
  | 'watch'
  | 'looking'
  | 'choice'
  | 'ways'
  | 'input'
  /** Too small a window to show the stakes: takes no text. */
  | 'shut'
  /** For an option that needs a reason or evidence. */
  | 'reason'
  | 'picker'
  /** A picker's text field that is not empty. */
  | 'reading'
  | 'over'
  | 'leave'
  | 'help'
  | 'fallback'
  /** Over the run. */
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
  /** As `keyOf` returns them. */
  readonly keys: readonly string[];
  readonly modes: readonly Mode[];
  /** In footer and help: `up/down`. Empty if another binding covers it. */
  readonly shown: string;
  /** `{unit}`: what the picker moves by. */
  readonly label: string;
  readonly description: string;
  /**
   * When the footer shows it: always, never, while the run may wait for credentials, if there is a command to
   * copy, if a way leads on, if the app has a palette, if a watched run can be taken over, or in a drill.
   */
  readonly onScreen: 'always' | 'never' | 'paused' | 'command' | 'way' | 'palette' | 'free' | 'drill';
}
