import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';
import { type DrillRecord, isFailure } from '../../report/drill/drill-report.ts';
import { writeJunit } from './junit.ts';
import { keepNewest } from './keep-drills.ts';

export interface AfterDrill {
  readonly junit: string | undefined;
  readonly keep: number | undefined;
  /** Undefined for a drill that got no folder. */
  readonly folder: string | undefined;
}

/**
 * Writes the result of a drill that is over, notifies that it failed, and removes the drills that need not be
 * kept; a failure of one does not stop the others. Returns what went wrong. Never rejects.
 */
export async function endDrill(
  context: CommandContext,
  record: DrillRecord,
  { junit, keep, folder }: AfterDrill,
): Promise<readonly unknown[]> {
  const problems: unknown[] = [];
  const attempt = async (act: () => Promise<void> | void) => {
    try {
      await act();
    } catch (thrown) {
      problems.push(thrown);
    }
  };
  if (junit !== undefined) await attempt(() => writeJunit(junit, record));
  await notifyFailure(context, record);
  if (keep !== undefined && folder !== undefined) await attempt(() => keepNewest(context, folder, keep));
  return problems;
}

/**
 * Notifies that a drill failed, if the config has a target and no person is watching: a person at a terminal
 * is not asked for the vault's passphrase just for this. Never rejects; what cannot be sent now is left for
 * the next `lifeboat notify send`.
 */
async function notifyFailure(context: CommandContext, drill: DrillRecord): Promise<void> {
  if (!isFailure(drill) || context.stdin.isTTY === true) return;
  try {
    if ((await loadConfig(context.env, context.configPath)).notify.length === 0) return;
    const { sendNow } = await import('../notify/notify.ts');
    await sendNow(context, { drill });
  } catch (thrown) {
    // Config errors were already reported before the drill.
    if (thrown instanceof LifeboatError && thrown.code.startsWith('config.')) return;
    const why = thrown instanceof Error ? thrown.message : 'for an unknown reason';
    context.stderr.write(`warning: the notification of the failed drill was not sent: ${show(why, 200)}\n`);
  }
}
