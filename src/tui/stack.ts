import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { AskedSecret } from '../view/app/app-port.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { RunView } from '../view/run-view.ts';
import type { HostOptions } from './host.ts';
import type { AppEffect, LiveScreen, ScreenRequest } from './live-screen.ts';
import type { OpenScreen } from './module-screen.ts';
import { entryScreen } from './screens/entry/entry.ts';
import { runScreen } from './screens/run/run-screen.ts';

/** A run that is driven, something laid over a screen for a moment, or neither. */
type Kind = 'run' | 'over' | 'screen';

interface Entry {
  readonly screen: LiveScreen;
  readonly kind: Kind;
  readonly stop: () => void;
}

/** The screens of the app, the top one last. */
interface Stack {
  top(): LiveScreen | undefined;
  /** All screens, from the bottom up. */
  screens(): readonly LiveScreen[];
  run(): LiveScreen | undefined;
  is(screen: LiveScreen, kind: Kind): boolean;
  /** Puts a screen on top; `stop` is called when it is removed. */
  push(screen: LiveScreen, kind?: Kind, stop?: () => void): void;
  /** Removes a screen and everything above it. */
  remove(screen: LiveScreen): void;
  /** Removes what covers the screen of a request. False if there is no such screen, or a run covers it. */
  uncover(request: ScreenRequest): boolean;
  /** Removes everything without calling the listener. */
  clear(): void;
}

/** `onChange` is called when another screen becomes the top one, or the top one changes. */
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

/** The run that is driven on the stack of screens. */
interface Driving {
  /** The last view that its screen read; undefined if no run is driven. */
  view(): RunView | undefined;
  /**
   * Shows a run; resolves with its end once it has ended or is left, and its screen is closed. With
   * `if-good`, the screen of a run that ended well closes by itself, because others follow.
   */
  show(port: RunPort, closes?: 'if-good'): Promise<RunEnd>;
  /** Leaves every run, also those shown later, and journals the reason. */
  leave(why: string): void;
  /** Closes the screen of every run; one that has ended stays until it was read. */
  close(): void;
}

type DrivingOptions = Pick<
  HostOptions,
  'monotonic' | 'reading' | 'readMoment' | 'suspend' | 'onDone' | 'app'
> & {
  readonly stack: Stack;
  readonly onEffect: (effect: AppEffect) => void;
  /** Handles the way on from a run once its screen is closed. */
  readonly onLead: (effect: AppEffect) => void;
};

export function createDriving(options: DrivingOptions): Driving {
  const { stack } = options;
  let driven: RunView | undefined;
  const closers = new Set<() => void>();
  /** Set once everything is left; applies to later runs too. */
  let leaving: string | undefined;
  return {
    view: () => driven,
    leave(why) {
      leaving = why;
    },
    close() {
      for (const close of closers) close();
    },
    async show(port, closes) {
      const done = Promise.withResolvers<'left' | 'closed'>();
      // Reuse the view that the screen read last: folding the run again is expensive.
      const seen = { ...port, view: () => (driven = port.view()), fallback: () => port.fallback() };
      // If this is the only screen, closing it ends the process, so nothing can begin after it.
      const isAlone = stack.screens().length === 0;
      let lead: AppEffect | undefined;
      const onLead = (effect: AppEffect) => {
        lead = effect;
        done.resolve('closed');
      };
      const screen = runScreen(seen, {
        now: options.monotonic,
        reading: options.reading,
        hasPalette: options.app !== undefined,
        readMoment: options.readMoment,
        onDone: done.resolve,
        onSuspend: options.suspend,
        onEffect: options.onEffect,
        onLead: isAlone ? undefined : onLead,
      });
      const close = () => done.resolve('left');
      closers.add(close);
      stack.push(screen, 'run', screen.stop);
      let isOver = false;
      port.ended.then(({ how }) => {
        isOver = true;
        // A run that has ended stays on the screen until it was read.
        const { outcome } = port.view();
        const isRead = closes === 'if-good' && outcome?.tone === 'good';
        if (how !== 'ended' || outcome === undefined || isRead) done.resolve('closed');
      }, done.reject);
      // Everything was left while this run was still being opened.
      if (leaving !== undefined) done.resolve('left');
      try {
        const how = await done.promise;
        if (!isOver) await screen.leave(leaving);
        const end = await port.ended;
        if (stack.screens().length === 1) options.onDone(how);
        return end;
      } finally {
        driven = undefined;
        stack.remove(screen);
        closers.delete(close);
        if (lead !== undefined && leaving === undefined) options.onLead(lead);
      }
    },
  };
}

interface EnteringOptions {
  readonly stack: Stack;
  /** Makes a live screen whose effects go to `onEffect`. */
  readonly made: (open: OpenScreen, onEffect: (effect: AppEffect) => void) => LiveScreen;
  readonly perform: (effect: AppEffect) => void;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
}

/** Asks for secrets over the screens, one after the other. */
interface Entering {
  ask(asked: AskedSecret): Promise<Secret>;
  typed(): void;
  /** Called periodically: shows a waiting field once typing has paused. */
  tick(): void;
}

/** No field appears for this time after a key, so that text for a screen does not land in it. */
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
      const leave = () =>
        reject(new LifeboatError('input.left', 'nothing was entered', { exitCode: EXIT.interrupted }));
      const field = made(entryScreen(asked), (effect) => {
        if (effect.type !== 'entered') return perform(effect);
        resolve(effect.secret);
        stack.remove(shown);
      });
      // The screen beneath may be waiting for the same secret.
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

interface OpeningOptions {
  readonly stack: Pick<Stack, 'top' | 'push' | 'uncover'>;
  readonly load: (request: ScreenRequest) => Promise<OpenScreen>;
  readonly made: (open: OpenScreen, request: ScreenRequest) => LiveScreen;
  readonly onFailed: (thrown: unknown) => void;
}

/** Opens screens, which are loaded first. Keys typed in between go to the opened screen. */
interface Opening {
  /**
   * Goes back to the screen of a request, or loads it and puts it on the stack; `leave` is called just
   * before. Does nothing if another screen has come up in between.
   */
  open(request: ScreenRequest, leave?: () => void): void;
  /** Whether a screen is being loaded; if so, `act` runs once it is there. */
  isKept(act: () => void): boolean;
  stop(): void;
}

export function createOpening({ stack, load, made, onFailed }: OpeningOptions): Opening {
  let kept: (() => void)[] | undefined;
  let isStopped = false;

  const isKept = (act: () => void): boolean => {
    kept?.push(act);
    return kept !== undefined;
  };
  const put = async (request: ScreenRequest, leave: () => void) => {
    const beneath = stack.top();
    let opened: LiveScreen | undefined;
    try {
      const screen = await load(request);
      if (isStopped || stack.top() !== beneath) return;
      leave();
      opened = made(screen, request);
      stack.push(opened);
    } catch (thrown) {
      if (!isStopped) onFailed(thrown);
    } finally {
      const acts = kept ?? [];
      kept = undefined;
      // On any other screen, such a key would answer something that was not yet visible when it was pressed.
      for (const act of acts) if (kept !== undefined || stack.top() === opened) act();
    }
  };
  const open = (request: ScreenRequest, leave: () => void = () => undefined): void => {
    if (isStopped || isKept(() => open(request, leave)) || stack.uncover(request)) return;
    kept = [];
    void put(request, leave);
  };
  return {
    open,
    isKept,
    stop() {
      isStopped = true;
      kept = undefined;
    },
  };
}
