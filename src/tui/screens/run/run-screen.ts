import { failureOf } from '../../../base/errors.ts';
import { type MomentReader, nowOf } from '../../../view/moment-reader.ts';
import { questionKey } from '../../../view/question-words.ts';
import { LEFT, type RunPort } from '../../../view/run-port.ts';
import type { RunView } from '../../../view/run-view.ts';
import { isTooSmall, type Size } from '../../bands.ts';
import type { Stroke } from '../../keys.ts';
import { memoised } from '../../line.ts';
import type { AppEffect, LiveScreen, ShownKey } from '../../live-screen.ts';
import type { Look } from '../../span.ts';
import type { Reading } from '../../watch-terminal.ts';
import type { Intent, Mode } from './key-binding.ts';
import { intentOf, KEYMAP } from './keymap.ts';
import { layOut, modeIn } from './layout.ts';
import {
  type Action,
  type Effect,
  judgedUntil,
  type UiState,
  wayAt,
  withoutRecoveries,
} from './screen-state.ts';
import { firstState, modeOf, update } from './ui-state.ts';

interface RunScreenOptions {
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  /** Earliest time, on that clock, at which a key read now can have been pressed. Default: now. */
  readonly reading?: Reading | undefined;
  /** Whether Ctrl-K opens the palette of the app. */
  readonly hasPalette?: boolean | undefined;
  readonly readMoment: MomentReader;
  /** The operator has left the run, or closed the screen of one that is over. */
  readonly onDone: (how: 'left' | 'closed') => void;
  readonly onSuspend: () => void;
  /** Asks the app to open a screen or to copy a text. */
  readonly onEffect?: ((effect: AppEffect) => void) | undefined;
  /** Closes an ended run's screen and begins what leads on; missing if nothing can begin from here. */
  readonly onLead?: ((effect: AppEffect) => void) | undefined;
}

const ALONE =
  'lifeboat was started for this run alone: leave it, then run the command in a shell or start it in the app';

/** Modes in which a key may answer a question. */
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

/** The screen of a run. It stays subscribed to the run until `stop`. */
export function runScreen(
  port: RunPort,
  { now, reading, hasPalette, readMoment, onDone, onSuspend, onEffect, onLead }: RunScreenOptions,
): LiveScreen & { stop(): void } {
  /** The latest view, without the ways that cannot be taken from here. */
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
  /** Why a key does nothing now, for reasons that the keymap does not know. */
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
      // In a window too small to show the question, keys may leave but not answer.
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

interface Store {
  state(): UiState;
  subscribe(listener: () => void): () => void;
  dispatch(action: ActionWithoutTime): void;
  stop(): void;
}

/** Callers leave out the time; the store adds it. */
type ActionWithoutTime = Action extends infer One
  ? One extends Action
    ? Omit<One, 'now' | 'since'>
    : never
  : never;

interface StoreOptions extends Omit<RunScreenOptions, 'onDone'> {
  readonly onLeave: () => void;
  readonly onClose: () => void;
}

/** The screen's frame time: a download that reports every chunk must not cause more updates. */
const LOOK_MS = 66;
const TICK_MS = 1000;

function createStore(port: RunPort, options: StoreOptions): Store {
  const { now, reading } = options;
  const listeners = new Set<() => void>();
  let state: UiState = { ...firstState(port.view(), now()), hasPalette: options.hasPalette };
  reading?.follow(judgedUntil(state.keyboard));
  let lookedAt = now();
  let pending: NodeJS.Timeout | undefined;

  const dispatch = (action: ActionWithoutTime) => {
    const since = reading?.emptyAt();
    const times = { now: now(), ...(since !== undefined && { since }) };
    const [next, effect] = update(state, { ...action, ...times } as Action);
    if (next !== state) {
      state = next;
      reading?.follow(judgedUntil(state.keyboard));
      for (const listener of listeners) listener();
    }
    if (effect !== undefined) perform(effect);
  };
  const look = () => {
    clearTimeout(pending);
    pending = undefined;
    lookedAt = now();
    dispatch({ type: 'view', view: port.view() });
    if (state.overlay === 'fallback') perform({ type: 'fallback' });
  };
  const lookSoon = () => {
    if (pending !== undefined) return;
    const wait = LOOK_MS - (now() - lookedAt);
    if (wait <= 0) look();
    else pending = setTimeout(look, wait);
  };
  const readMoment = async (text: string) => {
    const view = port.view();
    const { question } = view;
    if (question?.kind !== 'time') return;
    // `10 minutes ago` is relative to the run's clock.
    const moment = await options.readMoment(text, { question, now: nowOf(view) });
    dispatch({ type: 'moment', text, moment });
  };
  const perform = (effect: Effect) => {
    switch (effect.type) {
      case 'leave':
        return options.onLeave();
      case 'close':
        return options.onClose();
      case 'suspend':
        return options.onSuspend();
      case 'wake':
        return port.wake();
      case 'app':
        return options.onEffect?.(effect.effect);
      case 'lead':
        return options.onLead?.(effect.effect);
      case 'fallback':
        return dispatch({ type: 'fallback', text: fallbackOf(port) });
      case 'read-moment':
        return void readMoment(effect.text);
      case 'answer':
        // The screen may be stale: an answer goes only to the question that it was given to.
        if (questionKey(port.view().question) !== state.question?.key) return look();
        port.answer(effect.answer).then(
          () => {
            look();
            dispatch({ type: 'answered' });
            const { lead } = effect;
            if (lead !== undefined && port.view().outcome !== undefined)
              void port.ended.then(
                () => options.onLead?.(lead),
                () => undefined,
              );
          },
          (error: unknown) => {
            const { shortMessage, hints } = failureOf(error);
            dispatch({ type: 'rejected', text: shortMessage, hints });
          },
        );
    }
  };

  const unsubscribe = port.subscribe(lookSoon);
  const tick = setInterval(look, TICK_MS);
  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dispatch,
    stop: () => {
      unsubscribe();
      clearInterval(tick);
      clearTimeout(pending);
    },
  };
}

/** A failure is shown in its place, because the script is needed when little else works. */
function fallbackOf(port: RunPort): string {
  try {
    return port.fallback();
  } catch (error) {
    return `the fallback script cannot be written now: ${failureOf(error).shortMessage}`;
  }
}
