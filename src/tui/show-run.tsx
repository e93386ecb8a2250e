import { render } from 'ink';
import { formatSummary } from '../plain/summary.ts';
import { type Streams, wantsColour } from '../plain/terminal.ts';
import { LEFT, leftBySignal } from '../view/leaving.ts';
import { type MomentReader, momentReader } from '../view/moment-reader.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import { App, type AppProps } from './app.tsx';
import { GIVE_SCREEN_BACK } from './first-frame.ts';
import { glyphsFor } from './glyphs.ts';
import { createStore } from './store.ts';
import { watchTerminal } from './watch-terminal.ts';

/**
 * The alternate screen, emptied, held back by terminals that can until the first frame of Ink follows. It is
 * entered here too, because not every way to the screen begins with a first frame, and what is erased must
 * never be the ordinary one.
 */
const CLEAR_FIRST_FRAME = '\u001b[?2026h\u001b[?1049h\u001b[H\u001b[J';

/**
 * Shows a run on the whole terminal until it is over and the operator has closed the screen, or until it is
 * left: by the operator, by SIGTERM, SIGHUP or SIGINT, or because the terminal is gone. Then it prints the
 * summary to stdout, on the normal screen.
 *
 * The terminal is restored in every case, also when this rejects (with what broke the screen or the run).
 * Leaving detaches the run, so it stays open and can be resumed; a killed process leaves it just as
 * resumable.
 */
export async function showRun(
  port: RunPort,
  streams: Streams,
  options: { readonly now?: () => number; readonly readMoment?: MomentReader } = {},
): Promise<RunEnd> {
  const { stdin, stdout, stderr, env } = streams;
  const done = Promise.withResolvers<'left' | 'closed' | 'lost'>();
  const store = createStore(port, {
    now: options.now ?? (() => performance.now()),
    readMoment: options.readMoment ?? momentReader,
    onLeave: () => done.resolve('left'),
    onClose: () => done.resolve('closed'),
    onSuspend: () => void process.kill(process.pid, 'SIGTSTP'),
  });
  let left: string | undefined;
  let suspend: Parameters<NonNullable<AppProps['onReady']>>[0] | undefined;
  const terminal = watchTerminal(streams, {
    onLost: () => {
      left ??= LEFT.terminalLost;
      done.resolve('lost');
    },
    onSignal: (signal) => {
      left ??= leftBySignal(signal);
      done.resolve('left');
    },
    suspend: () => suspend?.(),
  });
  let isOver = false;
  port.ended.then(({ how }) => {
    isOver = true;
    // A run that has come to its end stays on the screen until it has been read.
    if (how !== 'ended' || port.view().outcome === undefined) done.resolve('closed');
  }, done.reject);

  const look = { glyphs: glyphsFor(env), colour: wantsColour(stdout, env) };
  let how: 'left' | 'closed' | 'lost' | 'broken' = 'broken';
  try {
    stdout.write(CLEAR_FIRST_FRAME);
    const app = <App store={store} look={look} onReady={(given) => (suspend = given)} />;
    const ink = render(app, {
      stdin,
      stdout,
      stderr,
      alternateScreen: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: 15,
      interactive: true,
    });
    // A prompt in lines before this may have left the terminal listened to and yet not read; asking for
    // nothing makes Node read it again.
    const listening = setImmediate(() => stdin.read(0));
    try {
      how = await Promise.race([done.promise, ink.waitUntilExit().then(() => 'closed' as const)]);
    } finally {
      clearImmediate(listening);
      ink.unmount();
      await ink.waitUntilExit().catch(() => {});
    }
  } finally {
    store.stop();
    if (how === 'broken') {
      if (!terminal.isLost()) stdout.write(GIVE_SCREEN_BACK);
      // What broke matters more than a second failure on the way out.
      await port.detach(LEFT.screenBroke).catch(() => {});
    }
    terminal.stop();
  }

  if (!isOver) await port.detach(left ?? LEFT.byOperator);
  const end = await port.ended;
  if (!terminal.isLost()) await write(stdout, formatSummary(port.view(), end));
  return end;
}

function write(stream: Streams['stdout'], text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}
