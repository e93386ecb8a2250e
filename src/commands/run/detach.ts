import { EXIT, type ExitCode } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople } from '../../cli/print-result.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import type { Journal } from '../../store/journal.ts';
import type { ForWorkers } from '../../store/run-entries.ts';
import { printEntries } from './print-headless.ts';

/** The answers that the flags of a run give in advance. */
export function answersInAdvance({
  yes = false,
  confirm,
}: {
  readonly yes?: boolean | undefined;
  readonly confirm?: string | undefined;
}): ForWorkers {
  return { yes, confirm: confirm === undefined ? [] : [confirm] };
}

/** Says that a run was begun and left to the workers, and how to follow it. Exit 0. */
export async function sayLeft(
  context: CommandContext,
  journal: Journal,
  run: Pick<DrivenRun, 'runId' | 'instance'>,
): Promise<ExitCode> {
  if (isForPeople(context)) {
    context.stdout.write(`run ${run.runId} is left to the workers\n`);
    context.stderr.write(
      `where it stands: lifeboat status, lifeboat runs\nto drive it yourself: lifeboat resume ${run.runId}\n`,
    );
  } else {
    const stop = await printEntries(context, journal, run);
    await stop();
  }
  return EXIT.closed;
}
