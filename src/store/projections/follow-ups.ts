import { hash } from 'node:crypto';
import * as z from 'zod';
import { Closure, FollowUp } from '../../../machines/parts/follow-up.ts';
import { lazily } from '../../base/lazily.ts';
import { type Entry, fieldsOf, type JournalReader, type Json, type ProjectedRow } from '../journal.ts';
import type { Projection } from './projection.ts';

/** A follow-up that outlives the run that opened it. */
export type LedgerFollowUp = FollowUp & {
  /** The instance whose ledger holds it, by its name in the config. */
  readonly instance: string;
  /** The run that opened it. */
  readonly run?: string | undefined;
};

/** The entry fields that a fold reads; several ledgers may follow each other. */
export type LedgerEntry = Pick<Entry, 'stream' | 'type' | 'body' | 'at'>;

/**
 * Each follow-up of a ledger as one row, in order of opening; opening one again reopens it. The retirement of
 * a key, which has the key in its id, ends when that key is in force again. Entries of other types and broken
 * ones change nothing; an opening with only a readable id still opens.
 */
export const followUps: Projection = {
  name: 'follow-ups',
  version: 1,
  vouched: ['open'],
  keysOf: (entry) => {
    const [instance, id] = [instanceOf(entry), idIn(entry)];
    return instance === undefined || id === undefined ? [] : [keyOf(instance, id)];
  },
  fold: (row, entry) => {
    const before = row?.value as unknown as LedgerFollowUp | undefined;
    const after = afterOf(before, entry);
    if (after === undefined || after === before) return row;
    const sort = entry.type === OPENED ? String(entry.index).padStart(16, '0') : (row?.sort ?? '');
    return { group: stateOf(after), sort, value: after as unknown as Json };
  },
};

/** The group of a follow-up's row. */
function stateOf({ closed }: LedgerFollowUp): 'open' | 'done' | 'skipped' {
  if (closed === undefined) return 'open';
  return closed.how === 'skipped' ? 'skipped' : 'done';
}

/** The follow-ups by instance, each instance's in order of opening; only `open` ones, or all. */
export async function readFollowUps(
  journal: Pick<JournalReader, 'rows'>,
  which: 'open' | 'all',
): Promise<readonly LedgerFollowUp[]> {
  const rows: readonly ProjectedRow[] = await journal.rows(
    followUps.name,
    which === 'open' ? { group: 'open' } : {},
  );
  const found = rows.map(({ value }) => value as unknown as LedgerFollowUp);
  return found.toSorted((one, other) =>
    one.instance < other.instance ? -1 : +(one.instance > other.instance),
  );
}

/** The follow-up after an entry about it. Pure. */
export function afterOf(before: LedgerFollowUp | undefined, entry: LedgerEntry): LedgerFollowUp | undefined {
  const { type, body, at } = entry;
  if (type === OPENED) {
    const { data } = opened().safeParse(body);
    const instance = instanceOf(entry);
    if (data === undefined || instance === undefined) return before;
    const { followUp, run } = data;
    return { since: at, ...followUp, instance, ...(run === undefined ? {} : { run }) };
  }
  // Closed only once; the first entry counts.
  if (before === undefined || before.closed !== undefined) return before;
  if (type === 'key.set') {
    const isRevived = before.kind === 'retire-key' && before.subject === fieldsOf(body)['fingerprint'];
    return isRevived ? { ...before, closed: { ...REVIVED, at } } : before;
  }
  const { data } = closed().safeParse(body);
  return data === undefined ? before : { ...before, closed: { at, ...data.closure } };
}

/** The instance whose ledger an entry is in. */
export function instanceOf({ stream }: Pick<Entry, 'stream'>): string | undefined {
  return stream.startsWith('instance/') ? stream.slice('instance/'.length) : undefined;
}

/** The id of the follow-up that an entry is about; undefined for most entries. */
export function idIn({ type, body }: Pick<Entry, 'type' | 'body'>): string | undefined {
  const fields = fieldsOf(body);
  if (type === OPENED) return textOf(fieldsOf(fields['followUp'])['id']);
  if (type === 'follow-up.closed') return textOf(fields['id']);
  const fingerprint = type === 'key.set' ? textOf(fields['fingerprint']) : undefined;
  return fingerprint === undefined ? undefined : retirementOf(fingerprint);
}

/** The id of the follow-up to retire a key. */
export function retirementOf(fingerprint: string): string {
  return `${RETIRE}${fingerprint}`;
}

/** The key that the follow-up with this id retires; undefined for any other follow-up. */
export function retiredBy(id: string | undefined): string | undefined {
  return id?.startsWith(RETIRE) ? id.slice(RETIRE.length) : undefined;
}

const RETIRE = 'retire-key-';

const OPENED = 'follow-up.opened';
const REVIVED: Closure = { how: 'run', text: 'the key is in force again', evidence: {} };
const LONGEST_KEY = 200;

/** What can be read of a follow-up written by another version. */
const rest = lazily(() =>
  z
    .object({ id: z.string(), kind: FollowUp().shape.kind.catch('unread-run') })
    .transform(({ id, kind }): FollowUp => ({ id, kind, subject: id, what: `see to ${id}`, commands: [] })),
);
const opened = lazily(() =>
  z.object({ followUp: z.union([FollowUp(), rest()]), run: z.string().optional().catch(undefined) }),
);
const closed = lazily(() => z.object({ id: z.string(), closure: Closure() }));

function keyOf(instance: string, id: string): string {
  const key = `${instance}/${id}`;
  return key.length <= LONGEST_KEY ? key : `${instance}/#${hash('sha256', id, 'hex')}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
