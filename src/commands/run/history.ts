import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt } from '../../../machines/parts/states.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { runs, summariesOf } from '../../store/projections/runs.ts';
import { type UsualTimes, usualTimes } from '../../view/app/usual-times.ts';

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

/** So many earlier runs are measured, among the newest so many that are closed. */
const MEASURED = 5;
const LOOKED_AT = 200;

/** A run that has more entries than this is no measure of an ordinary one, and takes long to read. */
const MAX_ENTRIES = 2_000;

/** What earlier runs must have in common with one to be measured for it; what is undefined, has to be so. */
interface Alike {
  readonly mode: unknown;
  readonly action: unknown;
  /** Without one, the runs of all instances. */
  readonly instance?: string | undefined;
}

/**
 * How long the newest runs of the same kind took that came to a proven end. It reads no more than five of
 * them, of 2,000 entries each. Rejects as the journal does.
 */
export async function earlierTimes(
  journal: Pick<JournalReader, 'rows' | 'read' | 'head'>,
  { id, version, machine }: Pick<Runbook, 'id' | 'version' | 'machine'>,
  { mode, action, instance }: Alike,
): Promise<UsualTimes> {
  const rows = await journal.rows(runs.name, { group: 'closed', limit: LOOKED_AT, order: 'descending' });
  const like = summariesOf(rows).filter(
    (run) =>
      run.runbook === id &&
      run.version === version &&
      run.proven &&
      (instance === undefined || run.instance === instance),
  );
  const found: (readonly Entry[])[] = [];
  for (const { runId } of like.slice(0, 2 * MEASURED)) {
    const { seq } = await journal.head(`run/${runId}`);
    if (seq > MAX_ENTRIES) continue;
    const entries = await journal.read(`run/${runId}`);
    const input = inputOf(entries);
    if (input['mode'] === mode && input['action'] === action) found.push(entries);
    if (found.length === MEASURED) break;
    // Each is read in one go, and whoever draws or sends comes first.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return usualTimes(found, (state) => metaAt(machine, state)?.question !== undefined);
}

/** With what a run was begun. */
function inputOf([first]: readonly Entry[]): Readonly<Record<string, unknown>> {
  return fieldsOf(fieldsOf(first?.body)['input']);
}
