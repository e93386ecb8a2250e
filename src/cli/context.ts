import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { KeptPassphrase } from './kept-passphrase.ts';

export interface CommandContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly configPath: string | undefined;
  /** Why a change continues without the folder in which a team keeps its checkpoints. */
  readonly alone?: string | undefined;
  /** Restores terminal echo (echo.ts). Call it once the key store needs no passphrase any more. */
  readonly restoreEcho?: (() => void) | undefined;
  /** The full screen, if it is up: it asks for secrets. Otherwise the terminal is asked. */
  readonly screen?: OnScreen | undefined;
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

export const FORMS = ['table', 'json', 'yaml'] as const;
export type OutputForm = (typeof FORMS)[number];

/** The flags `-o` and `--json` of one level of the command line. */
export interface FormFlags {
  readonly output?: OutputForm;
  readonly json?: boolean;
}

/** The form that flags before or after the command name. Throws `usage.output` (exit 2) if they disagree. */
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

/** For errors of the command line itself: reads only words, so a misspelt flag does no harm. */
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
