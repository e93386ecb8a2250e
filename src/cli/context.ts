import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { KeptPassphrase } from './kept-passphrase.ts';

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

/** How a result is printed: for people, as JSON, or as YAML. */
export const FORMS = ['table', 'json', 'yaml'] as const;
export type OutputForm = (typeof FORMS)[number];

/** The flags `-o` and `--json` of one level of the command line. */
export interface FormFlags {
  readonly output?: OutputForm;
  readonly json?: boolean;
}

/**
 * The form that the flags ask for, before the command, after it, or both. Throws `usage.output` (exit 2) if
 * they disagree.
 */
export function formFrom(levels: readonly FormFlags[]): OutputForm {
  const asked = levels.flatMap(({ output, json }) => [output ?? [], json === true ? ('json' as const) : []]);
  const [first = 'table', ...others] = asked.flat();
  const other = others.find((form) => form !== first);
  if (other === undefined) return first;
  throw new LifeboatError('usage.output', `two output formats are named: ${first} and ${show(other)}`, {
    hints: ['--json is short for -o json', 'nothing was done'],
    exitCode: EXIT.usage,
  });
}

/**
 * The form of an error in the command line itself: read from the words alone, so that a misspelt flag beside
 * it does no harm.
 */
export function formOfErrors(argv: readonly string[]): OutputForm {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const forms = words.flatMap((word, at) => {
    if (word === '--json') return ['json'];
    if (word === '-o' || word === '--output') return [words[at + 1] ?? ''];
    const [, attached] = /^(?:--output=|-o=?)(.+)$/u.exec(word) ?? [];
    return attached === undefined ? [] : [attached];
  });
  return FORMS.find((form) => form === forms.at(-1)) ?? 'table';
}
