import type { Intent } from '../../src/tui/screens/run/key-binding.ts';
import { intentOf } from '../../src/tui/screens/run/keymap.ts';
import type { Effect, UiState } from '../../src/tui/screens/run/screen-state.ts';
import { firstState, modeOf, update } from '../../src/tui/screens/run/ui-state.ts';
import type { RunView } from '../../src/view/run-view.ts';

const PAGE = { height: 5, last: 20 };

/** What a person takes to read what is new on the screen. */
const READING_MS = 1000;

/** A key that came after `since` this many times, and was read at `until`. */
interface Late {
  readonly since: number;
  readonly until: number;
  readonly times: number;
}

/**
 * Presses keys as the keyboard would. Printable ones type where nothing is bound to them. The person reads
 * before each; from the first `at` on, time stands still but for `at` and `later`.
 */
export function drive(view: RunView, startAt = 0) {
  let state = firstState(view, startAt);
  const effects: Effect[] = [];
  let now = startAt;
  let reads = true;
  const take = ([next, effect]: readonly [UiState, Effect?]) => {
    state = next;
    if (effect !== undefined) effects.push(effect);
  };
  const meaning = (key: string) => {
    const intent: Intent | undefined = intentOf(modeOf(state), key);
    if (intent !== undefined) return { type: 'intent', intent, page: PAGE } as const;
    return key.length === 1 ? ({ type: 'text', text: key } as const) : ({ type: 'key' } as const);
  };
  const press = (...keys: string[]) => {
    for (const key of keys) {
      if (reads) now += READING_MS;
      take(update(state, { ...meaning(key), key, now }));
    }
  };
  const type = (text: string) => {
    if (reads) now += READING_MS;
    take(update(state, { type: 'text', text, key: 'paste', now }));
  };
  return {
    press,
    type,
    /**
     * Holds a key down for this many milliseconds: it comes once, again after the delay of the keyboard, then
     * at its rate.
     */
    hold: (
      key: string,
      rate: { readonly delay: number; readonly every: number; readonly ms: number },
      afterEach = () => {},
    ) => {
      reads = false;
      const end = now + rate.ms;
      for (let wait = rate.delay; now < end; now += wait, wait = rate.every) {
        press(key);
        afterEach();
      }
    },
    /** Reads a key late: once or, if it came several times before, in one piece. */
    readLate: (key: string, { since, until, times }: Late) => {
      reads = false;
      now = until;
      if (times === 1) return take(update(state, { ...meaning(key), key, now, since }));
      take(update(state, { type: 'text', text: '\r'.repeat(times), key, isHeld: true, now, since }));
    },
    at: (time: number) => {
      now = time;
      reads = false;
    },
    show: (next: RunView) => take(update(state, { type: 'view', view: next, now })),
    reject: (text: string) => take(update(state, { type: 'rejected', text, hints: [], now })),
    answered: () => take(update(state, { type: 'answered', now })),
    /** What the reader makes of a text. */
    read: (text: string, moment: { readonly time: Date } | { readonly problem: string }) =>
      take(update(state, { type: 'moment', text, moment, now })),
    fallback: (text: string) => take(update(state, { type: 'fallback', text, now })),
    later: (ms = READING_MS) => {
      now += ms;
    },
    state: () => state,
    /** All that is shown: the state but for the keys that it remembers. */
    shown: () => {
      const { keyboard: _, ...shown } = state;
      return shown;
    },
    mode: () => modeOf(state),
    effects,
    answers: () => effects.flatMap((effect) => (effect.type === 'answer' ? [effect.answer] : [])),
  };
}
