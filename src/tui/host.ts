import { counted } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { StartWish } from '../view/app/start-wish.ts';
import type { MomentReader } from '../view/moment-reader.ts';
import type { PlanPort } from '../view/plan/plan-view.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import { copyTo, createAttention } from './attention.ts';
import type { Layout, Size } from './bands.ts';
import { createErrands, startEach } from './errands.ts';
import { type LiveFacts, NO_FACTS } from './facts.ts';
import { pressedOn, type Stroke } from './keys.ts';
import type { AppEffect, LiveScreen, ScreenRequest } from './live-screen.ts';
import { createPresenting } from './mask.ts';
import type { OpenScreen } from './module-screen.ts';
import { withRoomForSaid, withSaid } from './parts/frame.ts';
import { helpScreen } from './screens/help/help.ts';
import { loadPlanScreen, loadScreen } from './screens/index.ts';
import { type Notice, noticeScreen } from './screens/notice/notice.ts';
import { type Beneath, paletteScreen } from './screens/palette/palette.ts';
import type { Look } from './span.ts';
import { createDriving, createEntering, createOpening, createStack } from './stack.ts';
import type { Reading } from './watch-terminal.ts';

/** The stack of screens: the top one is drawn and gets the keys, Esc goes back to the one beneath. */
export interface Host {
  readonly look: Look;
  /** Asks for a secret in a field over the screens; rejects with `input.left` if the field is left. */
  enter: OnScreen['enter'];
  /** Shows a line until the next key; an empty one clears it. */
  say: OnScreen['say'];
  subscribe(listener: () => void): () => void;
  /** Changes whenever the drawn content may have changed. */
  version(): number;
  layOut(size: Size): Layout;
  /** The screen that is drawn and gets the keys; undefined before the first one is opened. */
  top(): LiveScreen | undefined;
  press(stroke: Stroke | undefined, size: Size): void;
  paste(text: string, size: Size): void;
  open(request: ScreenRequest): void;
  /** Sets the window title again after another program has changed it. */
  retitle(): void;
  /** Shows a run; resolves with its end once it has ended or is left, and its screen is closed. */
  showRun(port: RunPort): Promise<RunEnd>;
  /** Shows the run of a plan; resolves when a person leaves it, and once it was left otherwise. */
  showPlan(port: PlanPort): Promise<void>;
  /** Leaves everything on the stack; resolves when nothing more will be written. */
  leave(why: string): Promise<void>;
  stop(): void;
}

const TICK_MS = 1_000;

export function createHost(options: HostOptions): Host {
  const { look, app } = options;
  const listeners = new Set<() => void>();
  let version = 0;
  let said: string | undefined;
  const attention = createAttention({ ...options, isLoud: options.isLoud ?? false });

  const tell = () => {
    version += 1;
    // Presenter mode needs the names of the config in order to hide them.
    const names = presenting.isOn() ? [{ source: 'home', of: null } as const] : [];
    app?.facts.want([...(stack.top()?.needs() ?? []), ...names]);
    const title = stack.top()?.title();
    if (title !== undefined) attention.look(title, driving.view(), presenting.text);
    for (const listener of listeners) listener();
  };
  const presenting = createPresenting({
    isOn: options.hidesNames ?? false,
    home: () => app?.facts.get('home', null).last?.value,
    run: () => driving.view(),
    isRunAlone: app === undefined,
  });
  const stack = createStack(tell);
  /** Where a closed run leads on to; it starts once the task that began the run is over. */
  let next: AppEffect | undefined;
  const onLead = (effect: AppEffect) => {
    next = effect;
  };
  const driving = createDriving({ ...options, stack, onEffect: (effect) => perform(effect), onLead });
  const back = () => {
    const screens = stack.screens();
    const last = screens.at(-1);
    if (last === undefined) return;
    // A run is left through its own dialogue, which says what happens to it.
    if (screens.length === 1) return options.onDone('closed');
    stack.remove(last);
  };
  const notice = (what: Notice): LiveScreen => {
    const screen = made(noticeScreen(what));
    stack.push(screen);
    return screen;
  };
  const made = (
    open: OpenScreen,
    request?: ScreenRequest,
    onEffect: (effect: AppEffect) => void = (effect) => void perform(effect),
  ): LiveScreen =>
    open({
      request,
      facts: app?.facts ?? NO_FACTS,
      now: options.now,
      onEffect,
      watch: app && ((runId) => app.port.watch(runId)),
      monotonic: options.monotonic,
    });
  const entering = createEntering({
    stack,
    made: (open, onEffect) => made(open, undefined, onEffect),
    perform: (effect) => void perform(effect),
    monotonic: options.monotonic,
  });
  const opening = createOpening({
    stack,
    load: loadScreen,
    made,
    onFailed: (thrown) => errands.refused('the screen', thrown),
  });
  const errands = createErrands({
    isDriving: () => stack.run() !== undefined,
    notice,
    remove: stack.remove,
    say: (text) => perform({ type: 'say', text }),
    onDone: () => app?.facts.refresh(),
    onOver: () => {
      const effect = next;
      next = undefined;
      if (effect !== undefined) perform(effect);
    },
  });
  const perform = (effect: AppEffect): unknown => {
    switch (effect.type) {
      case 'open':
        return opening.open(effect.screen);
      case 'back':
        return back();
      case 'quit':
        return stack.run() === undefined ? options.onDone('closed') : undefined;
      case 'unlock':
        app?.port.unlock();
        return perform({ type: 'refresh' });
      case 'refresh':
        app?.facts.refresh();
        return tell();
      case 'entered':
        return;
      case 'copy':
        said = copyTo(options.write, effect.text, show(effect.what));
        return tell();
      case 'present':
        said = presenting.toggle();
        return tell();
      case 'say':
        said = effect.text === '' ? undefined : show(effect.text);
        return tell();
      case 'write-report':
        return errands.beside(
          'the report',
          async () => `written: ${await needed(app).port.writeReport(effect.runId)}`,
        );
      case 'errand':
        return errands.carry(effect.errand, (leaving) => needed(app).port.carryOut(effect.errand, leaving));
      case 'lab':
        return errands.beside('the lab', () => needed(app).port.changeLab(effect.change));
      case 'add-key':
        return errands.beside('the key', () => needed(app).port.addKey(effect.instance, effect.file));
      case 'press': {
        back();
        const screen = stack.top();
        if (screen !== undefined) press({ kind: 'key', key: effect.key }, lastSize);
        return;
      }
      case 'instead':
        // Keep this screen until the next one can be drawn.
        if (effect.effect.type === 'open') return opening.open(effect.effect.screen, back);
        back();
        return perform(effect.effect);
      case 'start':
        return errands.begin(`starting ${show(effect.wish.runbook)}`, () => start(effect.wish));
      case 'start-each':
        return errands.begin(`${counted(effect.wishes.length, 'run')}, one after the other`, () =>
          startEach({
            wishes: effect.wishes,
            start: needed(app).port.start,
            show: (port) => driving.show(port, 'if-good'),
          }),
        );
      case 'start-plan':
        return errands.begin(`starting plan ${show(effect.wish.plan)}`, () =>
          answering(() => needed(app).port.startPlan(effect.wish)),
        );
      case 'resume':
        return errands.begin(`resuming run ${show(effect.runId)}`, async () =>
          needed(app).port.resume(effect.runId, (port) => driving.show(port)),
        );
    }
  };

  /** Starts a run, which answers the questions that led to it. */
  const start = async (wish: StartWish): Promise<readonly string[]> =>
    answering(() => needed(app).port.start(wish, (port) => driving.show(port)));
  const answering = async (begin: () => Promise<readonly string[]>): Promise<readonly string[]> => {
    const asked = stack.screens().find(({ request }) => request?.name === 'start');
    const lines = await begin();
    if (asked !== undefined && stack.screens().length > 1) stack.remove(asked);
    return lines;
  };
  let lastSize: Size = { columns: 80, rows: 24 };
  const press = (stroke: Stroke | undefined, size: Size): void => {
    lastSize = size;
    attention.typed();
    entering.typed();
    if (opening.isKept(() => press(stroke, size))) return;
    const screen = stack.top();
    if (screen === undefined) return;
    const [first, after] = pressedOn(screen, stroke);
    const wasTyping = screen.isTyping();
    pressOn(screen, first, size);
    // Do not treat the key as a command if Escape has just left a field: both may have been one Alt key.
    const isCommand = wasTyping && stack.top()?.isTyping() !== true;
    if (after !== undefined && !(isCommand && !leadsOut(after))) press(after, size);
  };
  const pressOn = (screen: LiveScreen, stroke: Stroke | undefined, size: Size): void => {
    if (said !== undefined) {
      said = undefined;
      tell();
    }
    const key = stroke?.kind === 'key' ? stroke.key : '';
    pressFree(screen, stroke, size, key, !screen.isTyping());
  };
  const paste = (text: string, size: Size): void => {
    lastSize = size;
    attention.typed();
    if (!opening.isKept(() => paste(text, size))) stack.top()?.paste(text, size);
  };
  const beneath = (screen: LiveScreen): Beneath => ({
    keys: screen.keys(),
    isDriving: stack.run() !== undefined,
    hidesNames: presenting.isOn(),
  });
  /** Keys that work on every screen, unless the screen uses them itself. */
  const pressFree = (
    screen: LiveScreen,
    stroke: Stroke | undefined,
    size: Size,
    key: string,
    isFree: boolean,
  ) => {
    // Help and palette open over a screen, but not over each other.
    const isOver = stack.is(screen, 'over');
    // A run handles its other keys itself.
    if (app !== undefined && (key === 'ctrl+k' || (key === ':' && isFree)) && !isOver)
      stack.push(made(paletteScreen(beneath(screen))), 'over');
    else if (app !== undefined && key === '!' && isFree)
      errands.beside('the shell', async () => void (await options.lend(app.port.shell)));
    else if (screen.press(stroke, size) || stack.is(screen, 'run')) return;
    else if (key === '?' && isFree && !isOver)
      stack.push(made(helpScreen(screen.keys(), screen.title())), 'over');
    else if (key === 'ctrl+r') perform({ type: 'refresh' });
    else if (key === 'ctrl+z') options.suspend();
    else if (key === 'escape' && stack.screens().length === 1)
      perform({ type: 'say', text: 'this is the first screen: q leaves lifeboat' });
    else if (key === 'escape' || (key === 'q' && isFree)) back();
    else if (key === 'ctrl+c' && stack.run() === undefined) options.onDone('left');
    else if (key === 'ctrl+c')
      perform({ type: 'say', text: 'a run is under way here: Esc goes back to it, q there leaves it' });
  };
  const ticking = setInterval(() => {
    entering.tick();
    const screen = stack.top();
    if (screen !== undefined && !stack.is(screen, 'run')) tell();
  }, TICK_MS);
  const unsubscribe = app?.facts.subscribe(tell);

  return {
    look,
    enter: entering.ask,
    say: (text) => perform({ type: 'say', text }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    version: () => version,
    top: stack.top,
    layOut(size) {
      lastSize = size;
      const screen = stack.top();
      const drawn = (room: Size): Layout =>
        screen?.layOut(room, look) ?? { bands: [], page: { height: 1, last: 0 } };
      // Resizing would make a run treat its question as new and hold back keys.
      const isRun = screen !== undefined && stack.is(screen, 'run');
      const shown =
        said === undefined
          ? drawn(size)
          : isRun
            ? withSaid(drawn(size), said, size, look)
            : withRoomForSaid(drawn, said, size, look);
      return presenting.cover(shown, size, look);
    },
    press,
    paste,
    open: opening.open,
    retitle() {
      attention.forget();
      tell();
    },
    showRun: driving.show,
    async showPlan(port) {
      const { planScreen } = await loadPlanScreen();
      const done = Promise.withResolvers<void>();
      const screen = planScreen(port, {
        facts: app?.facts ?? NO_FACTS,
        now: options.now,
        enter: entering.ask,
        onEffect: (effect) => void perform(effect),
        onDone: done.resolve,
        alone: app === undefined ? 'lifeboat was started for this plan alone' : undefined,
      });
      stack.push(screen, 'screen', screen.stop);
      // One that is over stays on the screen until it was read.
      port.ended.then(({ how }) => (how === 'ended' ? undefined : done.resolve()), done.reject);
      await done.promise;
      // Without another screen beneath, the terminal is given back.
      if (stack.screens().length > 1) stack.remove(screen);
    },
    async leave(why) {
      driving.leave(why);
      opening.stop();
      await Promise.allSettled(stack.screens().map((screen) => screen.leave(why)));
      driving.close();
      await errands.settled();
    },
    stop() {
      errands.stop();
      opening.stop();
      clearInterval(ticking);
      unsubscribe?.();
      stack.clear();
    },
  };
}

function leadsOut(stroke: Stroke): boolean {
  return stroke.kind === 'key' && (stroke.key === 'escape' || stroke.key === 'ctrl+c');
}

function needed<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('only one run is shown here');
  return value;
}

export interface HostOptions {
  readonly look: Look;
  readonly now: () => Date;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /** Earliest time, on that clock, at which a key read now can have been pressed. Default: now. */
  readonly reading?: Reading | undefined;
  readonly readMoment: MomentReader;
  /** Writes sequences that draw nothing: clipboard, title, bell. */
  readonly write: (bytes: string) => void;
  /** Gives the normal terminal to `act`, then takes the screen back. */
  readonly lend: <T>(act: () => Promise<T>) => Promise<T>;
  readonly suspend: () => void;
  /** Whether the bell may ring and desktop notifications are sent. */
  readonly isLoud?: boolean | undefined;
  /** Whether presenter mode is on from the start. */
  readonly hidesNames?: boolean | undefined;
  readonly onDone: (how: 'left' | 'closed') => void;
  /** The app's abilities beyond the shown run; without it, only that run is shown. */
  readonly app?: { readonly port: AppPort; readonly facts: LiveFacts } | undefined;
}
