import type { Runbook } from '../../../machines/parts/runbook.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type DryRunFacts, dryRunFacts, refusedRun } from '../../view/app/dry-run-facts.ts';
import type { StartWish } from '../../view/app/start-wish.ts';
import type { UsualTimes } from '../../view/app/usual-times.ts';
import { earlierTimes } from '../run/earlier-times.ts';
import { keptKeyring } from './kept-keyring.ts';

/** What a run would do, and what stands in its way; a run that would be refused is an answer too. */
export async function loadDryRun(
  context: CommandContext,
  config: LoadedConfig,
  { runbook: id, ...flags }: StartWish,
  signal: AbortSignal,
): Promise<DryRunFacts> {
  const { findDryRun } = await import('../run/find-dry-run.ts');
  try {
    const keys = () => keptKeyring(context);
    const found = await findDryRun(context, config, [id], flags, { keys, signal });
    return dryRunFacts(found, await timesBefore(context, found.runbook, flags));
  } catch (thrown) {
    signal.throwIfAborted();
    return refusedRun(thrown);
  }
}

/** How long the newest runs of the same kind took. */
async function timesBefore(
  context: CommandContext,
  runbook: Runbook,
  { prepare, perform, action }: Omit<StartWish, 'runbook'>,
): Promise<UsualTimes | undefined> {
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return undefined;
  try {
    const mode = prepare === true ? (perform === true ? 'both' : 'prepare') : perform && 'perform';
    return await earlierTimes(journal, runbook, { mode, action });
  } finally {
    await journal.close();
  }
}
