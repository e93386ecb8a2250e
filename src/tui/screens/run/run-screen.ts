import type { MomentReader } from '../../../view/moment-reader.ts';
import { LEFT, type RunPort } from '../../../view/run-port.ts';
import type { RunView } from '../../../view/run-view.ts';
import { isTooSmall, type Size } from '../../bands.ts';
import type { Stroke } from '../../keys.ts';
import type { AppEffect, LiveScreen, ShownKey } from '../../live-screen.ts';
import { memoised } from '../../memo.ts';
import type { Look } from '../../span.ts';
import type { Reading } from '../../watch-terminal.ts';
import type { Intent, Mode } from './key-binding.ts';
import { intentOf, KEYMAP } from './keymap.ts';
import { layOut, modeIn } from './layout.ts';
import { wayAt, withoutRecoveries } from './question-state.ts';
import type { UiState } from './screen-state.ts';
import { createStore } from './store.ts';
import { modeOf } from './ui-state.ts';

export interface RunScreenOptions {
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** When, on that clock, a key that is read now was pressed at the earliest. Default: now. */
  readonly reading?: Reading | undefined;
  /** Whether the app lays a palette over the run. */
  readonly hasPalette?: boolean | undefined;
  readonly readMoment: MomentReader;
  /** The operator has left the run, or has closed the screen of one that is over. */
  readonly onDone: (how: 'left' | 'closed') => void;
  readonly onSuspend: () => void;
  /** What the app is to do: to show a screen, to copy a text. */
  readonly onEffect?: (effect: AppEffect) => void;
  /**
   * Closes the screen of the run, which has ended, for what leads on; missing where nothing can be begun
   * after it.
   */
  readonly onLead?: ((effect: AppEffect) => void) | undefined;
}

/** Why another run cannot be begun from here. */
const ALONE =
  'lifeboat was started for this run alone: leave it, then run the command in a shell or start it in the app';

/** Where a key may answer a question. */
const ANSWERS: ReadonlySet<Mode> = new Set<Mode>([
  'choice',
  'ways',
  'input',
  'shut',
  'reason',
  'reading',
  'picker',
]);
const TYPES: ReadonlySet<Mode> = new Set<Mode>(['log-filter', 'input', 'reason', 'reading', 'picker']);

/** The screen over a run. It listens to the run until `stop`. */
export function runScreen(
  port: RunPort,
  { now, reading, hasPalette, readMoment, onDone, onSuspend, onEffect, onLead }: RunScreenOptions,
): LiveScreen & { stop(): void } {
  /** As it was looked at last, with the ways that cannot be taken from here. */
  let seen: RunView | undefined;
  const view = () => {
    seen = port.view();
    return onLead === undefined ? withoutRecoveries(seen) : seen;
  };
  const store = createStore(
    { ...port, view, fallback: () => port.fallback() },
    {
      now,
      reading,
      hasPalette,
      readMoment,
      onLeave: () => onDone('left'),
      onClose: () => onDone('closed'),
      onSuspend,
      onEffect,
      onLead,
    },
  );
  /** Why a key does nothing here, where the keymap cannot know. */
  const disabledOf = (intent: Intent | undefined): string | undefined => {
    if (intent === 'take-over') {
      const { watched } = store.state().view;
      if (watched?.isFree !== true)
        return `it cannot be taken over: ${watched?.driver ?? 'it is driven here'}`;
      return hasPalette === true ? undefined : watched.driver;
    }
    if (intent !== 'lead-on') return undefined;
    if (wayAt(store.state().view) !== undefined) return undefined;
    return seen === undefined || wayAt(seen) === undefined ? 'no command is suggested here' : ALONE;
  };
  const layouts = memoised((state: UiState, columns: number, rows: number, look: Look) =>
    layOut(state, { columns, rows }, look),
  );
  let look: Look | undefined;

  const modeAt = (size: Size): Mode =>
    look === undefined ? modeOf(store.state()) : modeIn(store.state(), size, look);
  const press = (
    key: string,
    intent: Intent | undefined,
    typed: string | undefined,
    size: Size,
    isHeld = false,
  ) => {
    const text = modeAt(size) === 'shut' ? undefined : typed;
    const disabled = disabledOf(intent);
    if (disabled !== undefined) onEffect?.({ type: 'say', text: disabled });
    else if (intent !== undefined) {
      const page =
        look === undefined
          ? { height: 1, last: 0 }
          : layouts(store.state(), size.columns, size.rows, look).page;
      store.dispatch({ type: 'intent', intent, key, page });
    } else if (text !== undefined && !isTooSmall(size)) store.dispatch({ type: 'text', text, key, isHeld });
    else store.dispatch({ type: 'key', key, isHeld });
    return intent !== undefined;
  };
  return {
    request: undefined,
    title: () => `run of ${store.state().view.runbook}`,
    subscribe: store.subscribe,
    isTyping: () => TYPES.has(modeOf(store.state())),
    keys: () => keysOf(modeOf(store.state()), disabledOf),
    needs: () => [],
    layOut(size, drawn) {
      look = drawn;
      return layouts(store.state(), size.columns, size.rows, drawn);
    },
    press(stroke: Stroke | undefined, size: Size) {
      if (stroke === undefined) return press('unnamed', undefined, undefined, size);
      if (stroke.kind === 'chunk')
        return press(stroke.of ?? 'chunk', undefined, stroke.text, size, stroke.of !== undefined);
      const mode = modeAt(size);
      // What cannot be read cannot be answered, but it can be left.
      const intent = intentOf(isTooSmall(size) && ANSWERS.has(mode) ? 'watch' : mode, stroke.key);
      return press(stroke.key, intent, stroke.text, size);
    },
    paste: (text, size) => void press('paste', undefined, text, size),
    leave: (why) => port.detach(why ?? LEFT.byOperator),
    stop: store.stop,
  };
}

function keysOf(mode: Mode, disabledOf: (intent: Intent) => string | undefined): readonly ShownKey[] {
  return KEYMAP.filter(({ modes }) => modes.includes(mode)).map(
    ({ intent, keys, shown, label, description, onScreen }) => ({
      keys,
      shown,
      label: label.replace('{unit}', ''),
      description,
      inFooter: onScreen === 'always',
      disabled: disabledOf(intent),
    }),
  );
}
