import type { AppPort } from '../view/app/app-port.ts';
import type { MomentReader } from '../view/moment-reader.ts';
import type { LiveFacts } from './facts.ts';
import type { Look } from './span.ts';
import type { Reading } from './watch-terminal.ts';

/** What a stack of screens stands on: the clocks, the terminal, and what the app may do. */
export interface HostOptions {
  readonly look: Look;
  readonly now: () => Date;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
  /** When, on that clock, a key that is read now was pressed at the earliest. Default: now. */
  readonly reading?: Reading | undefined;
  readonly readMoment: MomentReader;
  /** Bytes for the terminal that draw nothing: the clipboard, the title, the bell. */
  readonly write: (bytes: string) => void;
  /** Gives the ordinary terminal to `act`, and takes the screen back. */
  readonly lend: <T>(act: () => Promise<T>) => Promise<T>;
  readonly suspend: () => void;
  /** Whether the bell may ring and the desktop be notified. */
  readonly isLoud?: boolean | undefined;
  /** Whether names and ids are hidden from the beginning. */
  readonly hidesNames?: boolean | undefined;
  /** The last screen is closed. */
  readonly onDone: (how: 'left' | 'closed') => void;
  /** What the app may do besides the run that is shown; without it, only that is shown. */
  readonly app?: { readonly port: AppPort; readonly facts: LiveFacts } | undefined;
}
