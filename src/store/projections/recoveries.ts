import { replacesData, touchesOf } from '../../../machines/parts/touches.ts';
import { type Entry, fieldsOf, type JournalReader, type Json } from '../journal.ts';
import type { Projection } from './projection.ts';
import type { RunSummary } from './run-summary.ts';
import { runs, summariesOf } from './runs.ts';

/**
 * The newest runs that set out to bring data of an instance back, or data into it. Whether one did so is in
 * `runs`. At most 20: behind 20 that did not, a proven one is not found. What brings data back is said by
 * `touchesOf`: a change of that raises the version.
 */
export const recoveries: Projection = {
  name: 'recoveries',
  version: 1,
  keysOf: (entry) => touchedBy(recoveryIn(entry)).map(keyOf),
  fold: (row, entry) => {
    const { runId } = recoveryIn(entry) ?? {};
    if (runId === undefined) return row;
    const before = row === undefined ? [] : runIdsIn(row);
    return { group: 'begun', sort: entry.at, value: { runs: [runId, ...before].slice(0, MAX) } };
  },
};

const MAX = 20;
const PREFIX = 'run/';

/** A run that is to bring data back, by its first entry. */
export interface Recovery {
  readonly runId: string;
  readonly instance: string;
  readonly target?: string;
}

/** Undefined for every other entry. Pure. */
export function recoveryIn({
  stream,
  seq,
  type,
  body,
}: Pick<Entry, 'stream' | 'seq' | 'type' | 'body'>): Recovery | undefined {
  if (type !== 'run.started' || seq !== 1 || !stream.startsWith(PREFIX)) return undefined;
  const { runbook, instance, target, input } = fieldsOf(body);
  if (typeof instance !== 'string' || !isRecovery(String(runbook), input)) return undefined;
  return { runId: stream.slice(PREFIX.length), instance, ...(typeof target === 'string' ? { target } : {}) };
}

/** The instances that a run is about. */
export function touchedBy(run: Pick<RunSummary, 'instance' | 'target'> | undefined): readonly string[] {
  return run === undefined ? [] : [...new Set([run.instance, run.target ?? run.instance])];
}

/** By instance, the newest closed and proven run that brought data of it back, or data into it. */
export async function newestRecoveries(
  journal: Pick<JournalReader, 'rows'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, RunSummary>> {
  const begun = await journal.rows(recoveries.name, { keys: names.map(keyOf) });
  if (begun.length === 0) return new Map();
  const ids = begun.flatMap((row) => runIdsIn(row));
  const found = summariesOf(await journal.rows(runs.name, { keys: [...new Set(ids)] }));
  const proven = new Map(
    found.filter(({ status, proven }) => status === 'closed' && proven).map((run) => [run.runId, run]),
  );
  return new Map(
    begun.flatMap((row): (readonly [string, RunSummary])[] => {
      const id = runIdsIn(row).find((one) => proven.has(one));
      const run = id === undefined ? undefined : proven.get(id);
      return run === undefined ? [] : [[row.key.slice(0, -1), run]];
    }),
  );
}

/** Whether a run brings data back, or into its target. Its first entry is read only where it decides. */
export async function bringsDataBack(
  journal: Pick<JournalReader, 'read'>,
  { runId, runbook, target }: Pick<RunSummary, 'runId' | 'runbook' | 'target'>,
): Promise<boolean> {
  const isDecided = target === undefined && runbook !== 'single-change';
  const [started] = isDecided ? [] : await journal.read(`run/${runId}`);
  return isRecovery(runbook, started === undefined ? {} : fieldsOf(started.body)['input']);
}

/** With a target the input states the mode, and for a single change which one; else the runbook decides. */
function isRecovery(runbook: string, input: unknown): boolean {
  const touches = touchesOf(runbook, input);
  return touches !== undefined && replacesData(touches);
}

function runIdsIn({ value }: { readonly value: Json }): readonly string[] {
  return fieldsOf(value)['runs'] as readonly string[];
}

/** Instance names contain no slash: no key is a prefix of another. */
function keyOf(instance: string): string {
  return `${instance}/`;
}
