import type { InputOf } from '../../../machines/verbs.ts';
import type { ReadActivity } from '../../activities/activity.ts';
import { EXIT, errorFrom, exitOf, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import { canAsk } from '../../plain/terminal.ts';
import { PATIENCE_MS, patienceFrom, watchOverdue } from '../run/leave-overdue.ts';
import { progressLine } from './progress-line.ts';

export interface WaitFlags {
  readonly wait?: boolean;
  readonly patience?: string;
}

/** `--patience`; default: half an hour if unattended, no limit in a terminal. Throws `usage.patience`. */
export function waitPatience(context: CommandContext, flags: WaitFlags): number | undefined {
  return patienceFrom(flags.patience) ?? (canAsk(context) ? undefined : PATIENCE_MS);
}

/**
 * `--wait` of `backups get` and `restores get`: holds and writes nothing. Rejects with exit 130 when left, 3
 * when too long over its limit, 4 for refused credentials (all say how to continue), 1 for a failed task.
 */
export async function followTask(
  context: CommandContext,
  { service, name }: OpenInstance,
  { what, id }: { readonly what: 'backup' | 'restore'; readonly id: number },
  flags: WaitFlags,
): Promise<void> {
  const patienceMs = waitPatience(context, flags);
  const { waitForBackup, waitForRestore } = await import('../../activities/wait-for-task.ts');
  const waiting: ReadActivity<InputOf<'waitForBackup' | 'waitForRestore'>, unknown> = what === 'backup'
    ? waitForBackup({ service })
    : waitForRestore({ service, objectives: {} });
  const line = progressLine(context);
  const { signal, release } = stopSignal();
  const tooLong = new AbortController();
  const watch =
    patienceMs === undefined ? undefined : watchOverdue(patienceMs, (why) => tooLong.abort(new Error(why)));
  watch?.look(what, undefined);
  try {
    const result = await waiting.run(
      { id },
      {
        runId: 'wait',
        instance: name,
        signal: AbortSignal.any([signal, tooLong.signal]),
        now: () => new Date(),
        report: (progress) => {
          line.report(progress);
          watch?.look(what, progress.overdue);
        },
      },
    );
    line.end();
    if (result.ok) return;
    const onward = `to go on waiting: lifeboat ${what}s get ${id} --wait --instance ${name}`;
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
  } finally {
    watch?.stop();
    line.end();
    release();
  }
}
