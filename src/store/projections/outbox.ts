import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import {
  type Entry,
  fieldsOf,
  type JournalReader,
  type Json,
  type NewEntry,
  OUTBOX_STREAM,
} from '../journal.ts';
import { isEnd } from '../run-entries.ts';
import type { FoldedRow, Projection } from './projection.ts';
import type { RunEnding } from './run-summary.ts';

/** A target receives notifications about entries after this one only. */
const BEGUN = 'notify.begun';
const begun = lazily(() => z.object({ target: z.string().max(63) }));

/** One attempt to deliver. Of content and answer, only the status is stored. */
const TRIED = 'notify.tried';
const tried = lazily(() =>
  z.object({
    /** The same in each attempt. */
    id: z.string().max(160),
    target: z.string().max(63),
    outcome: z.enum(['delivered', 'failed']),
    status: z.int().optional(),
    /** Such as `ECONNREFUSED`, `timeout` or `exit 3`. */
    why: z.string().max(60).optional(),
    /** As the receiver asked. Seconds. */
    retryAfter: z.int().nonnegative().optional(),
    /** No target still needs it: each has it, or (`given-up`) one never took it. */
    closes: z.enum(['delivered', 'given-up']).optional(),
  }),
);
export type Tried = z.output<ReturnType<typeof tried>>;

/** At one target. */
export interface Tries {
  readonly count: number;
  /** RFC 3339, by the clock that stamps entries. */
  readonly at: string;
  readonly outcome: Tried['outcome'];
  /** Seconds, as the receiver asked. */
  readonly retryAfter?: number;
}

/** The end of a run, or any event that was tried. */
export interface Posted {
  readonly id: string;
  /** Of the run's end, otherwise of the first attempt. */
  readonly index: number;
  readonly at: string;
  /** How the run ended; undefined for any other event. */
  readonly end?: RunEnding;
  readonly tries: Readonly<Record<string, Tries>>;
  readonly closes?: Tried['closes'];
}

export interface KnownTarget {
  readonly name: string;
  /** It receives notifications about entries after this leaf. */
  readonly index: number;
  readonly at: string;
  /** Of any notification. */
  readonly last?: Pick<Tried, 'outcome' | 'status' | 'why'> & { readonly at: string };
}

/**
 * Targets, ends of runs until they are delivered everywhere, and the attempts of all other notifications. A
 * question and a danger leave with their run. An end stays while a target lacks it, so without a configured
 * target each ended run has one small row.
 */
export const outbox: Projection = {
  name: 'outbox',
  version: 1,
  keysOf: (entry) => {
    if (entry.stream === OUTBOX_STREAM) return keysOfOutbox(entry);
    const run =
      entry.stream.startsWith('run/') && isEnd(entry) ? entry.stream.slice('run/'.length) : undefined;
    return run === undefined ? [] : [`ended/${run}`, `question/${run}`, `rto/${run}`];
  },
  fold: (row, entry, key) => {
    if (entry.stream !== OUTBOX_STREAM)
      return key.startsWith('ended/') ? (row ?? ended(entry, key)) : undefined;
    return key.startsWith('target/') ? afterTarget(row, entry) : afterTry(row, entry);
  },
};

/** Not delivered everywhere, newest first, at most `limit`. */
export function readEnded(journal: Pick<JournalReader, 'rows'>, limit: number): Promise<readonly Posted[]> {
  return readPosted(journal, { group: 'ended', order: 'descending', limit });
}

/** That a target never took, newest first. */
export function readGivenUp(journal: Pick<JournalReader, 'rows'>, limit: number): Promise<readonly Posted[]> {
  return readPosted(journal, { group: 'given-up', order: 'descending', limit });
}

/** Undefined if the notification was never tried. */
export async function findPosted(
  journal: Pick<JournalReader, 'rows'>,
  id: string,
): Promise<Posted | undefined> {
  const found = await readPosted(journal, { keyPrefix: keyOf(id) });
  return found.find((posted) => posted.id === id);
}

async function readPosted(journal: Pick<JournalReader, 'rows'>, query: Parameters<JournalReader['rows']>[1]) {
  return (await journal.rows(outbox.name, query)).map(({ value }) => value as unknown as Posted);
}

/** All that a process writing to this store ever had in its config. */
export async function readTargets(journal: Pick<JournalReader, 'rows'>): Promise<readonly KnownTarget[]> {
  const rows = await journal.rows(outbox.name, { group: 'target' });
  return rows.map(({ value }) => value as unknown as KnownTarget);
}

/** A target receives notifications after it. */
export function begunEntry(target: string): NewEntry {
  return { stream: OUTBOX_STREAM, type: BEGUN, body: begun().parse({ target }) };
}

export function triedEntry(attempt: Tried): NewEntry {
  // Parsing drops undefined fields, so the rest is JSON.
  return { stream: OUTBOX_STREAM, type: TRIED, body: tried().parse(attempt) as Json };
}

function keysOfOutbox({ type, body }: Entry): readonly string[] {
  if (type === BEGUN) return targetsIn(begun().safeParse(body).data);
  const { data } = type === TRIED ? tried().safeParse(body) : {};
  return data === undefined ? [] : [keyOf(data.id), ...targetsIn(data)];
}

function targetsIn(body: { readonly target: string } | undefined): readonly string[] {
  return body === undefined ? [] : [`target/${body.target}`];
}

/** Only a run's newest question counts, and only the newest drill. */
function keyOf(id: string): string {
  const [kind = '', run = ''] = id.split('/');
  return kind.startsWith('drill-') ? kind : `${kind}/${run}`;
}

function ended({ type, body, index, at }: Entry, key: string): FoldedRow {
  const { outcome, proven, failure } = fieldsOf(body);
  const stopped = failure === undefined ? 'stopped' : 'failed';
  const closed = outcome === 'stopped' ? stopped : proven === true ? 'closed' : 'unproven';
  return rowOf({ id: key, index, at, end: type === 'run.abandoned' ? 'abandoned' : closed, tries: {} });
}

function afterTry(row: FoldedRow | undefined, { body, index, at }: Entry): FoldedRow | undefined {
  const { data } = tried().safeParse(body);
  const known = row?.value as unknown as Posted | undefined;
  if (data === undefined) return row;
  const { id, target, outcome, retryAfter, closes } = data;
  if (known?.id !== id && id.startsWith('ended/')) return row;
  const { closes: _, ...before } = known?.id === id ? known : { id, index, at, tries: {} };
  const count = (before.tries[target]?.count ?? 0) + 1;
  const tries: Tries = { count, at, outcome, ...(retryAfter === undefined ? {} : { retryAfter }) };
  const after = { ...before, tries: { ...before.tries, [target]: tries } };
  // Every target has it, and no entry can reopen it.
  if (closes === 'delivered' && before.end !== undefined) return undefined;
  return rowOf({ ...after, ...(closes === undefined ? {} : { closes }) });
}

function afterTarget(row: FoldedRow | undefined, entry: Entry): FoldedRow | undefined {
  const known = row?.value as unknown as KnownTarget | undefined;
  const { index, at } = entry;
  if (entry.type === BEGUN) {
    const { data } = begun().safeParse(entry.body);
    return row ?? (data && targetRow({ name: data.target, index, at }));
  }
  const { data } = tried().safeParse(entry.body);
  if (data === undefined || known === undefined) return row;
  const { outcome, status, why } = data;
  const more = { ...(status === undefined ? {} : { status }), ...(why === undefined ? {} : { why }) };
  return targetRow({ ...known, last: { at, outcome, ...more } });
}

function rowOf(posted: Posted): FoldedRow {
  const open = posted.end === undefined ? 'tried' : 'ended';
  const group = posted.closes === 'given-up' ? 'given-up' : open;
  return { group, sort: String(posted.index).padStart(16, '0'), value: posted as unknown as Json };
}

function targetRow(target: KnownTarget): FoldedRow {
  return { group: 'target', sort: target.name, value: target as unknown as Json };
}
