import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { KeptPassphrase } from './kept-passphrase.ts';
import type { OutputForm } from './output-form.ts';

/** What a command gets from the process: streams, environment, the options that every command has. */
export interface CommandContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly configPath: string | undefined;
  /** Why a change goes on without the folder in which a team keeps its checkpoints. */
  readonly alone?: string | undefined;
  /**
   * Lets the terminal show again what is typed, where it shows nothing since the process was started
   * (echo.ts): called once the key store is open and its passphrase is no longer asked for.
   */
  readonly restoreEcho?: (() => void) | undefined;
  /** Where the full screen is up: it asks for secrets. Without it the terminal is there to be asked on. */
  readonly screen?: OnScreen | undefined;
  /** Aborted when that screen is left. */
  readonly leaving?: AbortSignal | undefined;
  /** Shows a run on a screen that is there already, in place of one of its own. */
  readonly showRun?: ((port: RunPort) => Promise<RunEnd>) | undefined;
  /** What opens the vault once it was entered. Without it, each opening asks for itself. */
  readonly passphrase?: KeptPassphrase | undefined;
  /**
   * Makes what can be looked at over a run that takes the screen itself; without it, nothing but the run is
   * shown.
   */
  readonly connect?:
    | ((context: CommandContext, config: LoadedConfig, screen: OnScreen) => AppPort)
    | undefined;
  /** The key store that is open already, for what only looks into it: that of the run beneath. */
  readonly keyring?: Keyring | undefined;
  /** How the result is printed; without it, for people. */
  readonly output?: OutputForm;
}
