import type { LiveScreen, ScreenRequest } from './live-screen.ts';

/** A run that is driven, something that lies over a screen for a moment, or neither. */
type Kind = 'run' | 'over' | 'screen';

interface Entry {
  readonly screen: LiveScreen;
  readonly kind: Kind;
  readonly stop: () => void;
}

/** The screens of the app, the uppermost last. */
export interface Stack {
  top(): LiveScreen | undefined;
  /** All of them, the first at the bottom. */
  screens(): readonly LiveScreen[];
  /** The run that is driven here. */
  run(): LiveScreen | undefined;
  is(screen: LiveScreen, kind: Kind): boolean;
  /** Puts a screen on top; `stop` is called when it goes. */
  push(screen: LiveScreen, kind?: Kind, stop?: () => void): void;
  /** Takes the screen off, with all that lies over it. */
  remove(screen: LiveScreen): void;
  /** Takes off what lies over the screen of a request. False where there is none, or a run lies over it. */
  uncover(request: ScreenRequest): boolean;
  /** Takes everything off, without a word to the listener. */
  clear(): void;
}

/** An empty stack; `onChange` is called when another screen is uppermost, or when that one changes. */
export function createStack(onChange: () => void): Stack {
  const entries: Entry[] = [];
  const removeFrom = (at: number) => {
    for (const { stop } of entries.splice(at)) stop();
    onChange();
  };
  return {
    top: () => entries.at(-1)?.screen,
    screens: () => entries.map(({ screen }) => screen),
    run: () => entries.find(({ kind }) => kind === 'run')?.screen,
    is: (screen, kind) => entries.some((one) => one.screen === screen && one.kind === kind),
    push(screen, kind = 'screen', stop = () => undefined) {
      const unsubscribe = screen.subscribe(onChange);
      entries.push({
        screen,
        kind,
        stop: () => {
          unsubscribe();
          stop();
        },
      });
      onChange();
    },
    remove(screen) {
      const at = entries.findIndex((one) => one.screen === screen);
      if (at !== -1) removeFrom(at);
    },
    uncover(request) {
      const at = entries.findIndex(({ screen }) => isSame(screen.request, request));
      if (at === -1 || entries.slice(at + 1).some(({ kind }) => kind === 'run')) return false;
      removeFrom(at + 1);
      return true;
    },
    clear() {
      for (const { stop } of entries.splice(0)) stop();
    },
  };
}

function isSame(one: ScreenRequest | undefined, other: ScreenRequest): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
