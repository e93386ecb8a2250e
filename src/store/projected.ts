import { isDeepStrictEqual } from 'node:util';
import type { Entry, JournalReader, ProjectedRow, RowQuery } from './journal.ts';
import { entryOf } from './new-entry.ts';
import { evaluations } from './projections/evaluations.ts';
import { followUps } from './projections/follow-ups.ts';
import { instanceNames } from './projections/instance-names.ts';
import { ledgers } from './projections/ledgers.ts';
import { outbox } from './projections/outbox.ts';
import { pendingCalls } from './projections/pending-calls.ts';
import { planChildren } from './projections/plan-children.ts';
import type { FoldedRow, Projection } from './projections/projection.ts';
import { recoveries } from './projections/recoveries.ts';
import { runs } from './projections/runs.ts';
import { signers } from './projections/signers.ts';

export const PROJECTIONS: readonly Projection[] = [
  runs,
  followUps,
  pendingCalls,
  ledgers,
  instanceNames,
  outbox,
  planChildren,
  evaluations,
  signers,
  recoveries,
];

/** With the relevant entries in order. */
export interface Touched {
  readonly projection: Projection;
  readonly key: string;
  readonly entries: readonly Entry[];
}

/** Each row once: an engine reads, folds and writes them back. */
export function touchedBy(projections: readonly Projection[], entries: readonly Entry[]): readonly Touched[] {
  return projections.flatMap((projection) => {
    const byKey = new Map<string, Entry[]>();
    for (const entry of entries)
      for (const key of projection.keysOf(entry)) byKey.set(key, [...(byKey.get(key) ?? []), entry]);
    return [...byKey].map(([key, its]) => ({ projection, key, entries: its }));
  });
}

/** Undefined if the row is to be removed. */
export function foldTouched(
  { projection, key, entries }: Touched,
  row: FoldedRow | undefined,
): FoldedRow | undefined {
  return entries.reduce<FoldedRow | undefined>((before, entry) => projection.fold(before, entry, key), row);
}

/** Throws a RangeError, a bug of the caller, for an unknown name. */
export function projectionOf(projections: readonly Projection[], name: string): Projection {
  const projection = projections.find((one) => one.name === name);
  if (projection === undefined) throw new RangeError(`no projection is called ${name}`);
  return projection;
}

export interface Fold {
  take(entry: Entry): void;
  /** Unordered. */
  rows(): readonly ProjectedRow[];
}

/** From the first entry: to rebuild, or for a reader of another version. */
export function createFold(projection: Projection): Fold {
  const rows = new Map<string, FoldedRow>();
  return {
    take(entry) {
      for (const key of projection.keysOf(entry)) {
        const row = projection.fold(rows.get(key), entry, key);
        if (row === undefined) rows.delete(key);
        else rows.set(key, row);
      }
    },
    rows: () =>
      [...rows].map(([key, { group, sort, value }]) => ({
        key,
        group,
        sort,
        value: JSON.parse(JSON.stringify(value)),
      })),
  };
}

export function selectRows(rows: readonly ProjectedRow[], query: RowQuery = {}): readonly ProjectedRow[] {
  const { group, keyPrefix = '', limit, order = 'ascending', after } = query;
  const keys = query.keys && new Set(query.keys);
  const found = rows
    .filter((row) => (group === undefined || row.group === group) && row.key.startsWith(keyPrefix))
    .filter(({ key }) => keys === undefined || keys.has(key))
    .sort(inOrder);
  const ordered = order === 'ascending' ? found : found.reverse();
  const from =
    after === undefined
      ? 0
      : ordered.findIndex((row) =>
          order === 'ascending' ? inOrder(row, after) > 0 : inOrder(row, after) < 0,
        );
  return from < 0 ? [] : ordered.slice(from).slice(0, limit);
}

type Place = Pick<ProjectedRow, 'sort' | 'key'>;

function inOrder(a: Place, b: Place): number {
  return compareBytes(a.sort, b.sort) || compareBytes(a.key, b.key);
}

/** By the bytes of UTF-8, as databases order text. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export interface ProjectionDifference {
  readonly projection: string;
  readonly key: string;
  readonly kept: ProjectedRow | undefined;
  readonly rebuilt: ProjectedRow | undefined;
}

/**
 * Folds all entries again and compares with the kept rows. Rejects with `journal.damaged` for an unreadable
 * entry. Takes as long as reading every entry.
 */
export async function compareProjections(
  source: Pick<JournalReader, 'log' | 'rows'>,
  projections: readonly Projection[],
): Promise<readonly ProjectionDifference[]> {
  const folds = projections.map((projection) => ({ projection, fold: createFold(projection) }));
  for await (const stored of source.log.stored()) {
    const entry = entryOf(stored);
    for (const { fold } of folds) fold.take(entry);
  }
  const differences = folds.map(async ({ projection: { name }, fold }) => {
    const kept = new Map((await source.rows(name)).map((row) => [row.key, row]));
    const rebuilt = new Map(fold.rows().map((row) => [row.key, row]));
    return [...new Set([...kept.keys(), ...rebuilt.keys()])]
      .filter((key) => !isDeepStrictEqual(kept.get(key), rebuilt.get(key)))
      .map((key) => ({ projection: name, key, kept: kept.get(key), rebuilt: rebuilt.get(key) }));
  });
  return (await Promise.all(differences)).flat();
}
