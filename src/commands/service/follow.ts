import type { CallOf } from '../../../machines/verbs.ts';
import type { Activities, ReadActivity } from '../../activities/activity.ts';
import { EXIT, errorFrom, exitOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import { canAsk } from '../../plain/terminal.ts';
import { PATIENCE_MS, patienceFrom, watchOverdue } from '../run/leave-overdue.ts';
import type { Output } from './call-outcome.ts';
import type { Wait, Waiting } from './planned-change.ts';
import { type ProgressLine, progressLine } from './progress-line.ts';

/** Flags of a command that can wait. */
export interface WaitFlags {
  readonly wait?: boolean;
  readonly patience?: string;
}

/** `--wait` of a command that only looks: holds no ledger, and writes nothing. */
export async function followReading(
  context: CommandContext,
  { service, name }: OpenInstance,
  wait: Wait<'waitForBackup' | 'waitForRestore'>,
  output: Output,
  flags: WaitFlags,
): Promise<void> {
  const patienceMs = waitPatience(context, flags);
  const next = wait.until(output);
  if (next === undefined) return;
  const { waitForBackup } = await import('../../activities/wait-for-task.ts');
  const { waitForRestore } = await import('../../activities/wait-for-task.ts');
  const activities = {
    waitForBackup: waitForBackup({ service }),
    waitForRestore: waitForRestore({ service, objectives: {} }),
  };
  const line = progressLine(context);
  const stop = stopSignal();
  try {
    const command = wait.command(output);
    await follow(context, next, {
      activities,
      instance: name,
      signal: stop.signal,
      line,
      command,
      patienceMs,
    });
  } finally {
    line.end();
    stop.release();
  }
}

/** What a wait needs besides the call that it waits for. */
export interface Following<V extends Waiting> {
  readonly activities: Pick<Activities, V>;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly line: ProgressLine;
  /** The command that continues the wait. */
  readonly command: string;
  /** How far over its limit the wait may go on; undefined for ever. Milliseconds. */
  readonly patienceMs: number | undefined;
}

/**
 * The value of `--patience`; without it, half an hour if unattended, and no limit in a terminal. Throws
 * `usage.patience`.
 */
export function waitPatience(context: CommandContext, flags: WaitFlags): number | undefined {
  return patienceFrom(flags.patience) ?? (canAsk(context) ? undefined : PATIENCE_MS);
}

/**
 * Performs a verb that waits, to its end, and prints what shows that an action is over. Rejects with exit 130
 * when it is left, 3 when it is over its limit for too long, 4 when the credentials are refused (all say how
 * to continue), 1 when what it waits for has failed.
 */
export async function follow<V extends Waiting>(
  { stderr }: Pick<CommandContext, 'stderr'>,
  { verb, input }: CallOf<V>,
  { activities, instance, signal, line, command, patienceMs }: Following<V>,
): Promise<void> {
  const waiting: ReadActivity<never, unknown> = activities[verb];
  const tooLong = new AbortController();
  const watch =
    patienceMs === undefined ? undefined : watchOverdue(patienceMs, (why) => tooLong.abort(new Error(why)));
  watch?.look(verb, undefined);
  const result = await waiting
    .run(input as never, {
      runId: 'wait',
      instance,
      signal: AbortSignal.any([signal, tooLong.signal]),
      now: () => new Date(),
      report: (progress) => {
        line.report(progress);
        watch?.look(verb, progress.overdue);
      },
    })
    .finally(() => watch?.stop());
  line.end();
  if (result.ok) {
    const { reason: reasons } = (result.output ?? {}) as { readonly reason?: string };
    if (reasons !== undefined) stderr.write(`${show(reasons)}\n`);
    return;
  }
  const onward = `to go on waiting: ${command}`;
  if (tooLong.signal.aborted) {
    const { message } = tooLong.signal.reason as Error;
    throw new LifeboatError('call.overdue', `left while waiting: ${message}`, {
      hints: ['the service goes on with it', onward],
      exitCode: EXIT.waiting,
    });
  }
  if (signal.aborted) {
    throw new LifeboatError('call.left', 'interrupted while waiting; the service goes on with it', {
      hints: [onward],
      exitCode: EXIT.interrupted,
    });
  }
  const { failure } = result;
  const exitCode = exitOf(failure);
  const hints = exitCode === EXIT.credentials ? [onward, ...failure.hints] : failure.hints;
  throw errorFrom({ ...failure, hints }, exitCode);
}
