import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { AskedSecret } from '../view/app/app-port.ts';
import type { AppEffect, LiveScreen } from './live-screen.ts';
import type { OpenScreen } from './module-screen.ts';
import { entryScreen } from './screens/entry/entry.ts';
import type { Stack } from './stack.ts';

export interface EnteringOptions {
  readonly stack: Stack;
  /** Gives a screen that has these effects a life. */
  readonly made: (open: OpenScreen, onEffect: (effect: AppEffect) => void) => LiveScreen;
  readonly perform: (effect: AppEffect) => void;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
}

/** Secrets that are asked for over the screens, one after the other. */
export interface Entering {
  ask(asked: AskedSecret): Promise<Secret>;
  /** Somebody has pressed a key. */
  typed(): void;
  /** Called now and then: shows what waited until nobody was typing. */
  tick(): void;
}

/** So long after a key, no field comes by itself: what is typed for one screen must not land in another. */
const QUIET_MS = 1_000;

export function createEntering({ stack, made, perform, monotonic }: EnteringOptions): Entering {
  let before: Promise<unknown> = Promise.resolve();
  let typedAt = Number.NEGATIVE_INFINITY;
  let waiting: (() => void) | undefined;

  const isQuiet = () => monotonic() - typedAt >= QUIET_MS && stack.top()?.isTyping() !== true;
  const quiet = () =>
    new Promise<void>((resolve) => {
      if (isQuiet()) return resolve();
      waiting = resolve;
    });
  const askNow = async (asked: AskedSecret): Promise<Secret> => {
    if (asked.isUnasked === true) await quiet();
    return new Promise((resolve, reject) => {
      const leave = () => reject(left());
      const field = made(entryScreen(asked), (effect) => {
        if (effect.type !== 'entered') return perform(effect);
        resolve(effect.secret);
        stack.remove(shown);
      });
      // What has asked for it may be what the screen beneath waits for.
      const beneath = stack.top();
      const needs = () => [...field.needs(), ...(beneath?.needs() ?? [])];
      const shown = { ...field, needs, leave: async () => leave() };
      stack.push(shown, 'over', leave);
    });
  };

  return {
    ask(asked) {
      const entered = before.then(() => askNow(asked));
      before = entered.catch(() => undefined);
      return entered;
    },
    typed() {
      typedAt = monotonic();
    },
    tick() {
      if (waiting === undefined || !isQuiet()) return;
      waiting();
      waiting = undefined;
    },
  };
}

function left(): LifeboatError {
  return new LifeboatError('input.left', 'nothing was entered', { exitCode: EXIT.interrupted });
}
