import { EXIT } from '../base/errors.ts';
import { formatSummary } from '../plain/summary.ts';
import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { MomentReader } from '../view/moment-reader.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import { createFacts } from './facts.ts';
import type { Host } from './host.ts';
import { type TakeOptions, takeScreen } from './take-screen.tsx';

export interface ShowRunOptions {
  readonly now?: () => number;
  readonly readMoment?: MomentReader;
  /** Makes further screens available over the run; without it, only the run is shown. */
  readonly connect?: (screen: OnScreen) => AppPort;
}

/**
 * On the whole terminal, until it is over and its screen closed, or until it is left (`takeScreen`). Then
 * prints the summary to stdout, on the normal screen.
 * Leaving detaches the run: it stays open and resumable, as after a crash. If a run is over and its screen is
 * left, a drill is left: its exit code is that of an interruption.
 */
export async function showRun(
  port: RunPort,
  streams: Streams,
  { connect, ...given }: ShowRunOptions = {},
): Promise<RunEnd> {
  const options = { ...given, show: (host: Host) => host.showRun(port) };
  const { isLost, isLeft } = await (connect === undefined
    ? takeScreen(streams, options)
    : takeApp(streams, connect, options));
  const end = await port.ended;
  if (!isLost) await write(streams.stdout, formatSummary(port.view(), end));
  const isDrillLeft = isLeft && port.view().chapter !== undefined;
  return isDrillLeft ? { ...end, exitCode: EXIT.interrupted } : end;
}

function write(stream: Streams['stdout'], text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}

/**
 * Shows the app on the whole terminal, starting with the board, until the user leaves it (`takeScreen`). A
 * run that it still drives then is left too, and stays open.
 */
export async function showApp(streams: Streams, connect: (screen: OnScreen) => AppPort): Promise<void> {
  await takeApp(streams, connect, {
    show: (host) => {
      host.open({ name: 'board' });
      // Closing the last screen ends the app.
      return new Promise(() => undefined);
    },
  });
}

/** Takes the terminal (`takeScreen`) with all screens of the app. */
export async function takeApp(
  streams: Streams,
  connect: (screen: OnScreen) => AppPort,
  { show, ...options }: Omit<TakeOptions, 'app'>,
): ReturnType<typeof takeScreen> {
  let shown: Host | undefined;
  const port = connect({
    enter: async (asked) => {
      if (shown === undefined) throw new Error('the screen is not there yet');
      return shown.enter(asked);
    },
    say: (text) => shown?.say(text),
    showPlan: async (plan) => shown?.showPlan(plan),
  });
  const facts = createFacts(port.loaders, () => new Date());
  try {
    return await takeScreen(streams, {
      ...options,
      app: { port, facts },
      show: (host) => {
        shown = host;
        return show(host);
      },
    });
  } finally {
    facts.stop();
  }
}
