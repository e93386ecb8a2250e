import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt } from '../../../machines/parts/states.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { runs, summariesOf } from '../../store/projections/runs.ts';
import { type UsualTimes, usualTimes } from '../../view/app/usual-times.ts';

export interface History {
  /** Undefined until it was read, and if it cannot be read. */
  times(): UsualTimes | undefined;
  /** Calls back when it was read; the first listener starts the reading. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
}

/** Lets the first frame and the first call go first. Milliseconds. */
const BEGIN_MS = 250;

/**
 * The times of earlier runs of the same runbook and instance, read once and only when there is a listener.
 * Nothing waits for them, and nothing is reported if they cannot be read.
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

/** How many earlier runs are measured, and among how many of the newest closed ones. */
const MEASURED = 5;
const LOOKED_AT = 200;

/** A run with more entries than this is not typical, and takes long to read. */
const MAX_ENTRIES = 2_000;

/** Must match an earlier run to be measured; undefined matches only undefined. */
interface Alike {
  readonly mode: unknown;
  readonly action: unknown;
  /** If undefined, the runs of all instances. */
  readonly instance?: string | undefined;
}

/** Of the newest proven runs alike: at most five, of at most 2,000 entries. Rejects as the journal does. */
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
    // Each run is read in one go; let drawing and sending go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return usualTimes(found, (state) => metaAt(machine, state)?.question !== undefined);
}

function inputOf([first]: readonly Entry[]): Readonly<Record<string, unknown>> {
  return fieldsOf(fieldsOf(first?.body)['input']);
}
