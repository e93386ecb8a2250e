import type { CommandContext } from '../../cli/context.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type DryRunFacts, dryRunFacts, refusedRun } from '../../view/app/dry-run-facts.ts';
import type { StartWish } from '../../view/app/start-wish.ts';
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
    return dryRunFacts(found, found.usual);
  } catch (thrown) {
    signal.throwIfAborted();
    return refusedRun(thrown);
  }
}
