import type { Obligation } from '../../machines/parts/obligation.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import type { Entry, Json } from '../store/journal.ts';
import { fold } from './fold.ts';

/**
 * What a run owes, settled or not, and will owe for a change that is under way, as its journal tells it; empty for a runbook that leaves nothing owed. Throws `run.diverged` for a
 * journal that this machine did not write.
 */
export function obligationsOf(runbook: Runbook, entries: readonly Entry[]): readonly Obligation[] {
  if (runbook.obligations === undefined) return [];
  const [started] = entries;
  const { input = {} } = (started?.body ?? {}) as { readonly input?: Json };
  const { snapshot } = fold(runbook, input, entries);
  return runbook.obligations(snapshot.context as never, statePath(snapshot));
}
