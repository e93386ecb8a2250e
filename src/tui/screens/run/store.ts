import { failureOf } from '../../../base/errors.ts';
import { type MomentReader, nowOf } from '../../../view/moment-reader.ts';
import { questionKey } from '../../../view/question-words.ts';
import type { RunPort } from '../../../view/run-port.ts';
import type { AppEffect } from '../../live-screen.ts';
import type { Reading } from '../../watch-terminal.ts';
import { judgedUntil } from './keyboard.ts';
import type { Action, Effect, UiState } from './screen-state.ts';
import { firstState, update } from './ui-state.ts';

/** Holds the state of the screen, keeps it in step with the run, and does what the operator asks for. */
export interface Store {
  state(): UiState;
  subscribe(listener: () => void): () => void;
  dispatch(action: ActionWithoutTime): void;
  /** Ends the ticking and the listening. */
  stop(): void;
}

/** Actions as components send them: the store stamps the time. */
type ActionWithoutTime = Action extends infer One
  ? One extends Action
    ? Omit<One, 'now' | 'since'>
    : never
  : never;

export interface StoreOptions {
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** When, on that clock, a key that is read now was pressed at the earliest. Default: now. */
  readonly reading?: Reading | undefined;
  /** Whether the app lays a palette over the run. */
  readonly hasPalette?: boolean | undefined;
  /** Reads what was typed for a moment. */
  readonly readMoment: MomentReader;
  readonly onLeave: () => void;
  /** The terminal is to go to the shell for a while. */
  readonly onSuspend?: () => void;
  readonly onClose: () => void;
  /** What the app is to do: to show a screen, to copy a text. */
  readonly onEffect?: ((effect: AppEffect) => void) | undefined;
  /** The run has ended, and its screen is to be closed for this. */
  readonly onLead?: ((effect: AppEffect) => void) | undefined;
}

/**
 * As often as the screen is drawn; a run that reports every chunk of a download is looked at no more often.
 */
const LOOK_MS = 66;
const TICK_MS = 1000;

export function createStore(port: RunPort, options: StoreOptions): Store {
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
    // The run's own clock says what `10 minutes ago` means.
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
        return options.onSuspend?.();
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
        // What stands on the screen may be a moment old. An answer goes only to the question it was given to.
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

/**
 * The fallback script has to come up when little else works, so a failure to write it is shown in its place.
 */
function fallbackOf(port: RunPort): string {
  try {
    return port.fallback();
  } catch (error) {
    return `the fallback script cannot be written now: ${failureOf(error).shortMessage}`;
  }
}
