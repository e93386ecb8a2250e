import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import { createFacts } from './facts.ts';
import type { Host } from './host.ts';
import { type TakeOptions, takeScreen } from './take-screen.tsx';

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
