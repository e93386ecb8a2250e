import type { WatchedPort } from '../view/app/app-port.ts';
import { badgeOf, type Facts } from '../view/app/sources.ts';
import { isTooSmall, type Layout, type Size, tooSmall } from './bands.ts';
import type { AppEffect, Around, Input, LiveScreen, ScreenModule, ScreenRequest } from './live-screen.ts';
import { bodySize, framed } from './parts/frame.ts';
import type { Look } from './span.ts';

export interface ModuleScreenOptions {
  readonly request?: ScreenRequest | undefined;
  readonly facts: Facts;
  readonly now: () => Date;
  readonly onEffect: (effect: AppEffect) => void;
  /** Opens a run to watch; undefined if only one run is shown. */
  readonly watch?: ((runId: string) => Promise<WatchedPort>) | undefined;
  /** Monotonic time in milliseconds. */
  readonly monotonic?: (() => number) | undefined;
}

export type OpenScreen = (options: ModuleScreenOptions) => LiveScreen;

/** Makes a live screen of pure functions: keeps the state and passes on the effects. */
export function screen<State, Intent extends string>(module: ScreenModule<State, Intent>): OpenScreen {
  return (options) => liveScreen(module, options);
}

export function liveScreen<State, Intent extends string, Effect = AppEffect>(
  module: ScreenModule<State, Intent, Effect>,
  {
    request,
    facts,
    now,
    onEffect,
  }: Omit<ModuleScreenOptions, 'onEffect'> & { readonly onEffect: (effect: AppEffect | Effect) => void },
): LiveScreen {
  const listeners = new Set<() => void>();
  let state = module.init;
  let size: Size = { columns: 80, rows: 24 };
  let look: Look | undefined;

  const around = (): Around => ({ facts, now: now(), size: bodySize(size) });
  const reduce = (input: Input<Intent>) => {
    const [next, ...effects] = module.reduce(state, input, around());
    if (next !== state) {
      state = next;
      for (const listener of listeners) listener();
    }
    for (const effect of effects) onEffect(effect);
  };
  const layOut = (given: Size, drawn: Look): Layout => {
    size = given;
    look = drawn;
    if (isTooSmall(given)) return tooSmall(`lifeboat ${module.title(state)}`, given, drawn);
    const surroundings = around();
    state = module.shown?.(state, surroundings) ?? state;
    return framed(
      {
        badge: module.badge(state, surroundings),
        subject: module.subject(state),
        title: module.title(state),
        now: surroundings.now,
        keys: module.keys(state, surroundings),
        body: module.layOut(state, surroundings, drawn),
      },
      given,
      drawn,
    );
  };

  return {
    request,
    title: () => module.title(state),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isTyping: () => module.isTyping(state),
    keys: () => module.keys(state, around()),
    needs: () => [{ source: 'home', of: null }, ...module.needs(state, around())],
    layOut,
    press(stroke, given) {
      size = given;
      // In a window too small to read, keys do nothing.
      if (stroke === undefined || isTooSmall(given)) return false;
      if (stroke.kind === 'chunk') return module.isTyping(state) && type(stroke.text);
      const key = module.keys(state, around()).find(({ keys }) => keys.includes(stroke.key));
      if (key?.disabled !== undefined) {
        onEffect({ type: 'say', text: key.disabled });
        return true;
      }
      if (key !== undefined) {
        const page = look === undefined ? { height: 1, last: 0 } : layOut(given, look).page;
        reduce({ type: 'intent', intent: key.intent, page });
        return true;
      }
      return stroke.text !== undefined && module.isTyping(state) && type(stroke.text);
    },
    paste(text, given) {
      size = given;
      if (!isTooSmall(given) && module.isTyping(state)) type(text);
    },
    leave: async () => undefined,
  };

  function type(text: string): boolean {
    reduce({ type: 'text', text });
    return true;
  }
}

/** The badge of a screen over all configured instances. */
export function badgeOfHome({ facts }: Pick<Around, 'facts'>) {
  return badgeOf(facts.get('home', null).last?.value.instances);
}
