import { hash } from 'node:crypto';
import * as z from 'zod';
import { Closure, FollowUp } from '../../../machines/parts/follow-up.ts';
import { lazily } from '../../base/lazily.ts';
import { type Entry, fieldsOf, type JournalReader, type Json, type ProjectedRow } from '../journal.ts';
import type { Projection } from './projection.ts';

/** A follow-up that outlives the run that opened it. */
export type LedgerFollowUp = FollowUp & {
  /** By its name in the config: the instance whose ledger holds it. */
  readonly instance: string;
  readonly run?: string | undefined;
};

/** The fields that a fold reads; several ledgers may follow each other. */
export type LedgerEntry = Pick<Entry, 'stream' | 'type' | 'body' | 'at'>;

/**
 * A ledger's follow-ups in order of opening; opening one again reopens it. The retirement of a key, which has
 * the key in its id, ends when that key is in force again. Other and broken entries change nothing; an
 * opening with only a readable id still opens.
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

function stateOf({ closed }: LedgerFollowUp): 'open' | 'done' | 'skipped' {
  if (closed === undefined) return 'open';
  return closed.how === 'skipped' ? 'skipped' : 'done';
}

/** By instance, each in order of opening. */
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

/** Pure. */
export function afterOf(before: LedgerFollowUp | undefined, entry: LedgerEntry): LedgerFollowUp | undefined {
  const { type, body, at } = entry;
  if (type === OPENED) {
    const { data } = opened().safeParse(body);
    const instance = instanceOf(entry);
    if (data === undefined || instance === undefined) return before;
    const { followUp, run } = data;
    return { since: at, ...followUp, instance, ...(run === undefined ? {} : { run }) };
  }
  // Closed only once: the first entry counts.
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

/** Undefined for most entries. */
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

/** Undefined for any other follow-up. */
export function retiredBy(id: string | undefined): string | undefined {
  return id?.startsWith(RETIRE) ? id.slice(RETIRE.length) : undefined;
}

const RETIRE = 'retire-key-';

const OPENED = 'follow-up.opened';
const REVIVED: Closure = { how: 'run', text: 'the key is in force again', evidence: {} };
const LONGEST_KEY = 200;

/** For a follow-up of another version. */
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
