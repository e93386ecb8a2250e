import type { BoundApp, PlatformProof, Reconnect } from '../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../base/errors.ts';
import { redactOutput } from '../base/redact.ts';
import { childEnvironment, type Ended, runProgram, STDERR_LIMIT, STDOUT_LIMIT } from '../base/run-shell.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { show } from '../base/text.ts';
import { type ActivityContext, type ActivityOf, type ActivityResult, because, ok } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { isSame, reconnectOf } from './find-bound.ts';

/** The end of a command's output, where the reason for a failure is. */
const SAID = 300;

/**
 * The team's own command gives an application its new credentials. It is taken from the present config, and
 * only if it is the listed one: a command from a journal is never run. `reconnect.changed`: it is another
 * one; `reconnect.not-run`: it could not be started; in both cases nothing was done. `reconnect.failed` and
 * `reconnect.timeout`: it ran, and may have done a part of its work.
 */
export function reconnectApp(deps: ActivityDeps): ActivityOf<'reconnectApp'> {
  return {
    kind: 'attended',
    run: (input, context) => {
      const { app, to } = input;
      return byCommand(deps, app, to, context, 'command', context.mayLeave);
    },
  };
}

/**
 * The team's proof that an application works with its new credentials; it changes nothing.
 * `reconnect.not-proven`: its exit code was not 0; else as `reconnectApp`.
 */
export function proveByCommand(
  deps: ActivityDeps,
  app: BoundApp,
  to: string,
  context: ActivityContext,
): Promise<ActivityResult<PlatformProof>> {
  return byCommand(deps, app, to, context, 'proof');
}

async function byCommand(
  deps: ActivityDeps,
  app: BoundApp,
  to: string,
  context: ActivityContext,
  which: keyof Reconnect,
  mayLeave?: () => void,
): Promise<ActivityResult<PlatformProof>> {
  const { signal, now, report, runId } = context;
  try {
    const { argv, timeoutMs } = configured(deps, app, which);
    const what = `${NAMES[which]} of ${show(app.name, 100)}`;
    report({ kind: 'task', status: 'running', what });
    mayLeave?.();
    const env = childEnvironment(deps.hideEnv, {
      LIFEBOAT_APP: app.name,
      LIFEBOAT_INSTANCE: to,
      LIFEBOAT_RUN: runId,
    });
    const ended = await runProgram(argv, { env, timeoutMs, signal });
    const said = lastWords(ended, (text, limit) => redactOutput(deps.blank(text), limit, env));
    if (ended.exit !== 0) throw failureOfEnd(ended.exit, { what, which, said, argv, timeoutMs });
    const words = which === 'command' ? `ran ${show(argv[0] ?? '', 100)}` : `proven by ${lineOf(argv)}`;
    const evidence = { command: lineOf(argv), exit: 0, ...(said === '' ? {} : { said }) };
    return ok({ outcome: 'done', text: words, at: now().toISOString(), evidence });
  } catch (thrown) {
    return because(thrown);
  }
}

const NAMES = { command: 'the command', proof: 'the proof' } as const;

/** From the present config, if it is the listed one. */
function configured(deps: ActivityDeps, app: BoundApp, which: keyof Reconnect) {
  const named = deps.apps?.find((one) => isSame(one, app) && one.reconnect !== undefined);
  const isListed = JSON.stringify(reconnectOf({ reconnect: named?.reconnect }).reconnect);
  if (named?.reconnect === undefined || isListed !== JSON.stringify(app.reconnect))
    throw new LifeboatError(
      'reconnect.changed',
      `the commands of ${show(app.name, 100)} in the config are not those that this run has listed`,
      {
        hints: [
          'nothing was run',
          'choose "check again which applications are bound": it lists those of the config of now',
        ],
      },
    );
  return { argv: named.reconnect[which], timeoutMs: named.reconnect.timeout };
}

interface Ran {
  readonly what: string;
  readonly which: keyof Reconnect;
  readonly said: string;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
}

function failureOfEnd(exit: Ended['exit'], { what, which, said, argv, timeoutMs }: Ran): LifeboatError {
  const evidence = { command: lineOf(argv), exit, ...(said === '' ? {} : { said }) };
  if (exit === 'timeout')
    return new LifeboatError('reconnect.timeout', `${what} took longer than ${timeoutMs / 1000} s`, {
      hints: ['it was ended, with what it had started', ...CAUTION[which]],
      evidence,
    });
  if (typeof exit === 'string' && /^E[A-Z0-9]+$/u.test(exit))
    return new LifeboatError('reconnect.not-run', `${what} could not be started: ${exit}`, {
      hints: [`nothing was run; is ${show(argv[0] ?? '', 100)} installed, and in the PATH of Lifeboat?`],
      evidence,
    });
  const end = `ended with ${exit}${said === '' ? '' : `: "${said}"`}`;
  const options = { hints: CAUTION[which], evidence };
  return which === 'command'
    ? new LifeboatError('reconnect.failed', `${what} ${end}`, options)
    : new LifeboatError('reconnect.not-proven', `${what} ${end}`, options);
}

const CAUTION = {
  command: ['it may have done a part of its work: look at it; it runs again only when you say so'],
  proof: ['the proof changes nothing: run it again when you have seen to the cause'],
} as const;

/** One line. Secrets are blanked before cutting: half a secret would not be found. */
function lastWords({ stdout, stderr }: Ended, blank: (text: string, limit: number) => string): string {
  const lines = `${blank(stdout, STDOUT_LIMIT)}\n${blank(stderr, STDERR_LIMIT)}`
    .split(/[\r\n]+/u)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return show(lines.slice(-3).join(' '), SAID);
}

function lineOf(argv: readonly string[]): string {
  return show(argv.map(shellQuoted).join(' '), 1_000);
}
