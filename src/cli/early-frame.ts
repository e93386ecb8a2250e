import { EXIT } from '../base/errors.ts';
import { withKeyStore } from '../config/key-store-named.ts';
import { canDraw } from '../plain/terminal.ts';
import { firstFrame, GIVE_SCREEN_BACK, hidesNames } from '../tui/first-frame.ts';
import type { CommandContext } from './context.ts';

/** Flags with which a run does not take the screen. */
const WITHOUT_SCREEN = new Set(['--json', '--plain', '--yes', '--abandon', '--dry-run', '--help', '-h']);

/** Flags with a value, of `run` and `resume`, and common ones. A test compares them with the definitions. */
export const VALUED: ReadonlySet<string> = new Set([
  ...['-i', '--instance', '-o', '--output', '--config', '--alone'],
  ...['--target', '--backup', '--to', '--action', '--app', '--incident', '--reason', '--confirm'],
  ...['--key-file', '--guid', '--token-file', '--break-glass', '--patience', '--abandon', '--became'],
]);

export function configIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  if (at === -1) return undefined;
  return argv[at]?.startsWith('--config=') === true ? argv[at]?.slice('--config='.length) : argv[at + 1];
}

export function wordsIn(argv: readonly string[]): readonly string[] {
  return argv.filter((arg, at) => !arg.startsWith('-') && !VALUED.has(argv[at - 1] ?? ''));
}

/** Whether a command line asks for the app: no command at all, in a terminal that can be drawn on. */
export function asksApp(
  argv: readonly string[],
  context: Pick<CommandContext, 'stdin' | 'stdout' | 'env'>,
): boolean {
  return isBare(argv) && canDraw(context);
}

/** Whether the app is asked for where only lines can be shown: a dumb terminal, or with a screen reader. */
export function asksLines(
  argv: readonly string[],
  context: Pick<CommandContext, 'stdin' | 'stdout' | 'env'>,
): boolean {
  const { stdin, stdout } = context;
  return isBare(argv) && stdin.isTTY === true && stdout.isTTY === true && !canDraw(context);
}

/** Flags that may stand without a command; a value follows each. */
const WITH_APP: ReadonlySet<string> = new Set(['--config', '--alone']);

function isBare(argv: readonly string[]): boolean {
  return argv.length % 2 === 0 && argv.every((arg, at) => at % 2 === 1 || WITH_APP.has(arg));
}

/** `-o json`, `-ojson`, `--output json`, `--output=json`: a run that prints for programs takes no screen. */
const NAMES_FORM = /^(?:-o|--output(?:=|$))/u;

/**
 * Paints the first frame of the screen before anything heavy is loaded: it appears after 62 ms of processor
 * time, and without this after 422 ms (medians of 30 starts in turns). Returns the function that gives the
 * screen back if the UI never comes up; undefined if the command line does not take the screen.
 */
export function paintEarly(
  argv: readonly string[],
  context: Pick<CommandContext, 'stdin' | 'stdout' | 'env'>,
): (() => void) | undefined {
  const [command] = wordsIn(argv);
  const takesScreen =
    asksApp(argv, context) ||
    ((command === 'run' || command === 'resume') &&
      !argv.some((arg) => WITHOUT_SCREEN.has(arg) || NAMES_FORM.test(arg)));
  // The app asks for a passphrase in a field of its own.
  const env = withKeyStore(context.env, configIn(argv));
  const asksFirst = (asksPassphrase(env) && !asksApp(argv, context)) || asksAction(argv);
  if (!takesScreen || asksFirst || !canDraw(context)) return undefined;
  const { columns = 80, rows = 24 } = context.stdout;
  onSignalAlone(() => {
    context.stdout.write(GIVE_SCREEN_BACK);
    process.exit(EXIT.interrupted);
  });
  const instance = hidesNames(context.env) ? '' : instanceOf(argv);
  context.stdout.write(firstFrame({ columns, rows, env: context.env, title: titleOf(argv), instance }));
  return () => void context.stdout.write(GIVE_SCREEN_BACK);
}

/** Before the run or UI handles signals, a signal ends the process: it must not leave its screen behind. */
function onSignalAlone(act: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) act();
    });
  }
}

/** The ordinary screen asks for a passphrase to open the keys. `env` is that of `withKeyStore`. */
export function asksPassphrase(env: CommandContext['env']): boolean {
  return (
    env['LIFEBOAT_KEYCHAIN'] === 'vault' &&
    !env['LIFEBOAT_PASSPHRASE_FILE'] &&
    !env['LIFEBOAT_PASSPHRASE_COMMAND']
  );
}

/** The ordinary screen asks for the run's task too. */
function asksAction(argv: readonly string[]): boolean {
  return wordsIn(argv)[1] === 'change-instance' && !argv.some((arg) => /^--action(?:=|$)/u.test(arg));
}

function titleOf(argv: readonly string[]): string {
  return wordsIn(argv).slice(0, 2).join(' ');
}

/** As `-i NAME`, or as the word after the runbook. */
function instanceOf(argv: readonly string[]): string {
  const at = argv.findIndex((arg) => arg === '--instance' || arg === '-i');
  if (at !== -1) return argv[at + 1] ?? '';
  const [command, , instance = ''] = wordsIn(argv);
  return command === 'run' ? instance : '';
}
