import type { Streams } from '../plain/terminal.ts';
import type { OutputForm } from './output-form.ts';

/** What a command gets from the process: streams, environment, the options that every command has. */
export interface CommandContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly configPath: string | undefined;
  /**
   * Lets the terminal show again what is typed, where it shows nothing since the process was started
   * (hush.ts): called once the key store is open, after which nobody is asked for its passphrase.
   */
  readonly unhush?: (() => void) | undefined;
  /** How the result is printed; without it, for people. */
  readonly output?: OutputForm;
}
