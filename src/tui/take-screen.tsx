import { render } from 'ink';
import { type Streams, wantsColour } from '../plain/terminal.ts';
import { type MomentReader, momentReader } from '../view/moment-reader.ts';
import { LEFT, leftBySignal } from '../view/run-port.ts';
import { App, type AppProps } from './app.tsx';
import { RESTORE_TITLE, SAVE_TITLE } from './attention.ts';
import { GIVE_SCREEN_BACK, hidesNames } from './first-frame.ts';
import { glyphsFor } from './glyphs.ts';
import type { HostOptions } from './host.ts';
import { createHost, type Host } from './host.ts';
import { themeFor } from './theme.ts';
import { readKeys, watchReading, watchTerminal } from './watch-terminal.ts';

/**
 * Enters and clears the alternate screen; terminals that support it delay this until Ink's first frame.
 * Enters it here too, because not every way to the screen begins with a first frame, and the normal screen
 * must never be erased.
 */
const CLEAR_FIRST_FRAME = '\u001b[?2026h\u001b[?1049h\u001b[H\u001b[J';

export interface TakeOptions {
  readonly now?: (() => number) | undefined;
  readonly readMoment?: MomentReader | undefined;
  readonly app?: HostOptions['app'];
  /** Puts the first screen on the stack; the terminal is also given back when this resolves. */
  readonly show: (host: Host) => Promise<unknown>;
}

/**
 * Takes the whole terminal until the last screen is closed or left: by the operator, by SIGTERM, SIGHUP or
 * SIGINT, or because the terminal is gone. By then the screens have released what they hold.
 *
 * The terminal is restored in every case, also when this rejects (with what broke the screen, or with what
 * `show` rejects with). Gives whether the terminal is still there to be written to.
 */
export async function takeScreen(
  streams: Streams,
  options: TakeOptions,
): Promise<{ readonly isLost: boolean }> {
  const { stdin, stdout, stderr, env } = streams;
  const done = Promise.withResolvers<'left' | 'closed' | 'lost'>();
  let left: string | undefined;
  let suspendInk: Parameters<NonNullable<AppProps['onReady']>>[0] | undefined;
  // While the UI is suspended, the window has its earlier title.
  const suspend = async () => {
    stdout.write(RESTORE_TITLE);
    const suspension = await suspendInk?.();
    return {
      resume: async () => {
        // A key echoed where Ink is about to draw would shift its first row, and everything below.
        (stdin as { setRawMode?(isRaw: boolean): unknown }).setRawMode?.(true);
        stdout.write(`${SAVE_TITLE}${CLEAR_FIRST_FRAME}`);
        await suspension?.resume();
        host.retitle();
      },
    };
  };
  const lend = async <T,>(act: () => Promise<T>): Promise<T> => {
    const suspension = await suspend();
    await letGoOf(stdin);
    try {
      return await act();
    } finally {
      await suspension.resume();
      stdin.read(0);
    }
  };
  const now = options.now ?? (() => performance.now());
  const reading = watchReading(now);
  const host = createHost({
    look: { glyphs: glyphsFor(env), colour: wantsColour(stdout, env), theme: themeFor(env) },
    now: () => new Date(),
    monotonic: now,
    reading: options.now === undefined ? reading : undefined,
    readMoment: options.readMoment ?? momentReader,
    write: (bytes) => void stdout.write(bytes),
    lend,
    isLoud: env['LIFEBOAT_BELL'] !== 'off',
    hidesNames: hidesNames(env),
    suspend: () => void process.kill(process.pid, 'SIGTSTP'),
    onDone: done.resolve,
    app: options.app,
  });
  const terminal = watchTerminal(streams, {
    onLost: () => {
      left ??= LEFT.terminalLost;
      done.resolve('lost');
    },
    onSignal: (signal) => {
      left ??= leftBySignal(signal);
      done.resolve('left');
    },
    suspend,
  });
  // Save the title before the first screen names the window.
  stdout.write(SAVE_TITLE);
  const shown = options.show(host).then(() => 'closed' as const);
  // The wait below reports this error; if the screen breaks first, the error is ignored.
  shown.catch(() => undefined);
  let isBroken = true;
  try {
    stdout.write(CLEAR_FIRST_FRAME);
    const ink = render(<App host={host} onReady={(given) => (suspendInk = given)} />, {
      stdin: readKeys(stdin),
      stdout,
      stderr,
      alternateScreen: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: 15,
      interactive: true,
    });
    // An earlier line prompt may have left stdin with listeners but not reading; a read of 0 bytes makes Node
    // read again.
    const listening = setImmediate(() => stdin.read(0));
    try {
      await Promise.race([done.promise, ink.waitUntilExit(), shown]);
      isBroken = false;
    } finally {
      clearImmediate(listening);
      ink.unmount();
      await ink.waitUntilExit().catch(() => {});
      if (!terminal.isLost()) stdout.write(RESTORE_TITLE);
    }
  } finally {
    reading.stop();
    if (isBroken) {
      if (!terminal.isLost()) stdout.write(GIVE_SCREEN_BACK);
      // The original error matters more than a second one while leaving.
      await host.leave(LEFT.screenBroke).catch(() => {});
      host.stop();
    }
    terminal.stop();
  }
  await host.leave(left ?? LEFT.byOperator);
  host.stop();
  return { isLost: terminal.isLost() };
}

/**
 * Ends Node's pending read: another program would lose the first line typed to it. Node ends it only when the
 * stream goes from flowing to paused.
 */
async function letGoOf(stdin: Streams['stdin']): Promise<void> {
  stdin.resume();
  stdin.pause();
  await new Promise((resolve) => setImmediate(resolve));
}
