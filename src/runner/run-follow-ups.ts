import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import type { Entry, Json } from '../store/journal.ts';
import { fold } from './fold.ts';

/**
 * The follow-ups of a run, open and closed, as its journal records them, and those that a change under way
 * will leave. Empty for a runbook that leaves none. Throws `run.diverged` for a journal that this machine did
 * not write.
 */
export function followUpsOf(runbook: Runbook, entries: readonly Entry[]): readonly FollowUp[] {
  if (runbook.followUps === undefined) return [];
  const [started] = entries;
  const { input = {} } = (started?.body ?? {}) as { readonly input?: Json };
  const { snapshot } = fold(runbook, input, entries);
  return runbook.followUps(snapshot.context as never, statePath(snapshot));
}
