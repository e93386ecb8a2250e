import type { AnyActivity, ReadActivity } from '../../activities/activity.ts';
import { EXIT, errorFrom, exitOf, LifeboatError } from '../../errors.ts';
import type { Json } from '../../journal/journal.ts';
import type { CommandContext } from '../context.ts';
import { stopSignal } from '../lab.ts';
import type { OpenInstance } from '../service-of.ts';
import type { Output } from './call-outcome.ts';
import type { Wait } from './planned-change.ts';
import { type ProgressLine, progressLine } from './progress-line.ts';

/** `--wait` of a command that only looks: no ledger is held, and nothing is written. */
export async function followReading(
  context: CommandContext,
  { service, name }: OpenInstance,
  wait: Wait,
  output: Output,
): Promise<void> {
  const next = wait.until(output);
  if (next === undefined) return;
  const { waitForBackup } = await import('../../activities/wait-for-backup.ts');
  const { waitForRestore } = await import('../../activities/wait-for-restore.ts');
  const activities = {
    waitForBackup: waitForBackup({ service }),
    waitForRestore: waitForRestore({ service, objectives: {} }),
  };
  const line = progressLine(context);
  const stop = stopSignal();
  try {
    const command = wait.command(output);
    await follow(next, { activities, instance: name, signal: stop.signal, line, command });
  } finally {
    line.end();
    stop.release();
  }
}

/** What a wait needs beside what it waits for. */
export interface Following {
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly line: ProgressLine;
  /** The command that goes on waiting. */
  readonly command: string;
}

/**
 * Performs a verb that waits, to its end. Rejects with exit 130 when it is left, 4 when the credentials are refused (both say how to go
 * on), 1 when what is waited for has failed.
 */
export async function follow(
  { verb, input }: { readonly verb: string; readonly input: Json },
  { activities, instance, signal, line, command }: Following,
): Promise<void> {
  const waiting = activities[verb] as unknown as ReadActivity<Json, unknown>;
  const result = await waiting.run(input, {
    runId: 'wait',
    instance,
    signal,
    now: () => new Date(),
    report: line.report,
  });
  line.end();
  if (result.ok) return;
  const onward = `to go on waiting: ${command}`;
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
