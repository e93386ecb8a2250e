import type { Runbook } from '../../../machines/parts/runbook.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { UsualTimes } from '../../view/app/usual-times.ts';
import { earlierTimes, inputOf } from './earlier-times.ts';

/** What earlier runs took, for whoever looks at a run. */
export interface History {
  /** Undefined until it was read, and where it cannot be. */
  times(): UsualTimes | undefined;
  /** Calls back when it was read; the first listener begins that. Gives the unsubscribe function. */
  subscribe(listener: () => void): () => void;
}

/** The first frame and the first call come before it. Milliseconds. */
const BEGIN_MS = 250;

/**
 * The times of earlier runs of the same runbook and instance, read once and only when somebody looks. Nothing
 * waits for it, and where it cannot be read nothing is said of it.
 */
export function historyOf(
  journal: Pick<JournalReader, 'rows' | 'read' | 'head'>,
  runbook: Runbook,
  { runId, instance }: { readonly runId: string; readonly instance: string },
): History {
  const listeners = new Set<() => void>();
  let times: UsualTimes | undefined;
  let isBegun = false;
  const read = async () => {
    const { mode, action } = inputOf(await journal.read(`run/${runId}`));
    times = await earlierTimes(journal, runbook, { mode, action, instance });
    for (const listener of listeners) listener();
  };
  return {
    times: () => times,
    subscribe(listener) {
      listeners.add(listener);
      if (!isBegun) setTimeout(() => void read().catch(() => undefined), BEGIN_MS).unref();
      isBegun = true;
      return () => listeners.delete(listener);
    },
  };
}
