import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { KeptPassphrase } from './kept-passphrase.ts';
import type { OutputForm } from './output-form.ts';

/** What a command gets from the process: streams, environment, common options. */
export interface CommandContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly configPath: string | undefined;
  /** Why a change continues without the folder in which a team keeps its checkpoints. */
  readonly alone?: string | undefined;
  /**
   * Turns terminal echo back on if it was disabled at the start of the process (echo.ts): called once the key
   * store is open and its passphrase is no longer asked for.
   */
  readonly restoreEcho?: (() => void) | undefined;
  /** The full screen, if it is up: it asks for secrets. Otherwise the terminal is asked. */
  readonly screen?: OnScreen | undefined;
  /** Aborted when that screen is left. */
  readonly leaving?: AbortSignal | undefined;
  /** Shows a run on an existing screen, instead of one of its own. */
  readonly showRun?: ((port: RunPort) => Promise<RunEnd>) | undefined;
  /** The passphrase of the vault once it was entered. Without it, each opening asks for itself. */
  readonly passphrase?: KeptPassphrase | undefined;
  /** Makes the screens over a run that takes the whole terminal; without it, only the run is shown. */
  readonly connect?:
    | ((context: CommandContext, config: LoadedConfig, screen: OnScreen) => AppPort)
    | undefined;
  /** The key store that is already open, for readers: that of the run beneath. */
  readonly keyring?: Keyring | undefined;
  /** How the result is printed; by default for people. */
  readonly output?: OutputForm;
}
