import type { Intent } from '../../src/tui/key-binding.ts';
import { intentOf } from '../../src/tui/keymap.ts';
import type { Effect, UiState } from '../../src/tui/screen-state.ts';
import { firstState, modeOf, SETTLE_MS, update } from '../../src/tui/ui-state.ts';
import type { RunView } from '../../src/view/run-view.ts';

const PAGE = { height: 5, last: 20 };

/** Presses keys as the keyboard would, long after the question appeared. Printable ones type where nothing is bound to them. */
export function drive(view: RunView, startAt = 0) {
  let state = firstState(view, startAt);
  const effects: Effect[] = [];
  let now = startAt + SETTLE_MS;
  const take = ([next, effect]: readonly [UiState, Effect?]) => {
    state = next;
    if (effect !== undefined) effects.push(effect);
  };
  const press = (...keys: string[]) => {
    for (const key of keys) {
      const intent: Intent | undefined = intentOf(modeOf(state), key);
      if (intent !== undefined) take(update(state, { type: 'intent', intent, page: PAGE, now }));
      else if (key.length === 1) type(key);
    }
  };
  const type = (text: string) => take(update(state, { type: 'text', text, now }));
  return {
    press,
    type,
    at: (time: number) => {
      now = time;
    },
    show: (next: RunView) => take(update(state, { type: 'view', view: next, now })),
    reject: (text: string) => take(update(state, { type: 'rejected', text, hints: [], now })),
    answered: () => take(update(state, { type: 'answered', now })),
    /** What the reader makes of a text, and time enough to look at it. */
    read: (text: string, moment: { readonly time: Date } | { readonly problem: string }) => {
      take(update(state, { type: 'moment', text, moment, now }));
      now += SETTLE_MS;
    },
    paper: (text: string) => take(update(state, { type: 'paper', text, now })),
    later: () => {
      now += SETTLE_MS;
    },
    state: () => state,
    mode: () => modeOf(state),
    effects,
    answers: () => effects.flatMap((effect) => (effect.type === 'answer' ? [effect.answer] : [])),
  };
}
