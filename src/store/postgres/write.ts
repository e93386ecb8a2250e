import type { KeyObject } from 'node:crypto';
import { hashOf } from '../canonical.ts';
import { type Entry, type LeafFields, LOG_STREAM, type Wake } from '../journal.ts';
import { keyIdOf, openNote } from '../log/checkpoint.ts';
import { CLOCK_MOVED, MAX_BEHIND, STORE_MOVED, StoreMoved } from '../log/log-entries.ts';
import { assertNotMoved } from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import { hashedEntry, type PreparedEntry } from '../new-entry.ts';
import type { Lease } from './leases.ts';
import type { Session } from './link.ts';
import { columnsOf } from './queries.ts';
import { sqlState } from './trouble.ts';

/** Checked in the append's own transaction. */
export interface Proof {
  readonly resource: string;
  readonly token: number;
  readonly nonce: string;
}

/** Being written to `entries`; its writer, who holds the stream, assigns the number. */
export interface Row extends PreparedEntry {
  readonly seq: number;
}

export interface Append {
  /** Random: distinguishes this append from any other, even after the connection broke. */
  readonly id: string;
  readonly rows: readonly Row[];
  readonly proofs: readonly Proof[];
  readonly by: string;
  /** The largest size whose checkpoint this installation's home place has; 0 for no news. */
  readonly vouched: number;
  /** Reaches the queue in the same transaction. */
  readonly wakes: readonly Wake[];
}

export interface Written {
  /** If false, nothing was written. */
  readonly proven: boolean;
  /** The rows continue each stream. If false, nothing was written. */
  readonly fits: boolean;
  /** The newest entry is in the future by the database's clock. Nothing was written. */
  readonly behind?: Behind | null;
  /** When each row was written, by the database's clock; null if nothing was. */
  readonly at: readonly string[] | null;
}

/** After a clock was put back: the newest entry's time, and the clock's. */
export interface Behind {
  readonly newest: string;
  readonly now: string;
}

/** Of entries. */
const DATE = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** Seconds that a clock may be behind without a record, as for every store (`clockNote`). */
const BEHIND = `(select json_build_object('newest', e.at,
    'now', to_char(clock_timestamp() at time zone 'UTC', ${DATE}))
  from (select at from lifeboat.entries order by id desc limit 1) e
  where e.at > to_char((clock_timestamp() + interval '${MAX_BEHIND} s') at time zone 'UTC', ${DATE}))`;

export async function askBehind(session: Session): Promise<Behind | undefined> {
  const [row] = await session.query<{ readonly behind: Behind | null }>(`select ${BEHIND} as behind`);
  return row?.behind ?? undefined;
}

/*
 * One statement, so one transaction and one round trip. It waits for a lease that is being taken over, and
 * finds it to be another's; a proven one cannot be taken over before the commit. Leases are locked in the
 * order of their names, as in their renewal; otherwise two processes could deadlock.
 */
const writing = ({ held, proofs, given, firsts, order, woken }: Source) => `with held as materialized (
  select l.resource from lifeboat.leases l ${held} for share of l
), given as (
  ${given}
), state as (
  select (select count(*) from held) = ${proofs} as proven,
    (select bool_and(
        first = 1 + coalesce((select max(e.seq) from lifeboat.entries e where e.stream = s.stream), 0))
      from (${firsts}) s) as fits,
    (select case when e.type = '${STORE_MOVED}' then e.body end from lifeboat.entries e
      where e.stream = '${LOG_STREAM}' order by e.seq desc limit 1) as moved,
    ${BEHIND} as behind
), written as (
  insert into lifeboat.entries (stream, seq, by, type, body, append, signature)
  select stream, seq, $8, type, body, $9::uuid, $10 from given
  where (select proven and fits and moved is null and (behind is null or $13::boolean) from state) ${order}
  returning id, at
), vouched as (
  insert into lifeboat.vouched (installation, size)
  select $11, $12::bigint where $12::bigint > 0 and exists (select from written) on conflict do nothing
)
select proven, fits, moved, behind, (select json_agg(at order by id) from written) as at${woken ?? ''} from state`;

/** The parts of a writing statement. */
interface Source {
  readonly held: string;
  /** How many leases must be proven. */
  readonly proofs: string;
  readonly given: string;
  /** The first row's number in each stream. */
  readonly firsts: string;
  readonly order: string;
  /** Sends wake-ups if rows were written. */
  readonly woken?: string;
}

const MANY = {
  held: `join unnest($1::text[], $2::bigint[], $3::uuid[]) h(resource, token, nonce)
  on l.resource = h.resource
  where l.token = h.token and l.nonce = h.nonce and l.until > clock_timestamp() order by l.resource`,
  proofs: 'cardinality($1)',
  given: `select * from unnest($4::text[], $5::bigint[], $6::text[], $7::text[])
    with ordinality g(stream, seq, type, body, nr)`,
  firsts: 'select stream, min(seq) as first from given group by stream',
  order: 'order by nr',
};
const WRITE = writing(MANY);

/**
 * The queue's own function (src/queue/boss-schema.ts) fails no append. If it does not exist or may not be
 * called, the whole statement fails, and is sent without it.
 */
const WRITE_AND_WAKE = writing({
  ...MANY,
  woken: `, (select lifeboat_queue.try_wake($14::text[], $15::timestamptz[])
  where exists (select from written)) as woken`,
});

/** The store has no queue for the wake-ups. */
export function lacksQueue(error: unknown): boolean {
  return /^(?:3F000|42883|42501)$/u.test(sqlState(error) ?? '');
}

/** Most appends are one row under one lease: without arrays, sets and sorts the server is faster. */
const WRITE_ONE = writing({
  held: `where l.resource = $1 and l.token = $2::bigint and l.nonce = $3::uuid
  and l.until > clock_timestamp()`,
  proofs: '1',
  given: 'select $4::text as stream, $5::bigint as seq, $6::text as type, $7::text as body',
  firsts: 'select stream, seq as first from given',
  order: '',
});

/** All rows or none; they enter the log with their leaves. Rejects with `journal.moved` for a moved store. */
export async function writeRows(session: Session, append: Append, signer: Signer): Promise<Written> {
  const { id, rows, proofs, by, vouched, wakes } = append;
  const isNoted = rows.some(({ stream, type }) => stream === LOG_STREAM && type === CLOCK_MOVED);
  const signed = [by, id, signatureOf(append, signer), signer.installation, vouched, isNoted];
  const [row, proof] = [rows[0], proofs[0]];
  const isOne =
    rows.length === 1 &&
    proofs.length === 1 &&
    row !== undefined &&
    proof !== undefined &&
    wakes.length === 0;
  const given = isOne
    ? [proof.resource, proof.token, proof.nonce, row.stream, row.seq, row.type, row.body]
    : [
        ...columnsOf(proofs.toSorted(byName), 'resource', 'token', 'nonce'),
        ...columnsOf(rows, 'stream', 'seq', 'type', 'body'),
      ];
  const woken = wakes.length === 0 ? [] : [wakes.map(({ run }) => run), wakes.map(({ at }) => at ?? null)];
  const statement = isOne ? WRITE_ONE : wakes.length === 0 ? WRITE : WRITE_AND_WAKE;
  const values = [...given, ...signed, ...woken];
  const [written] = await session.query<Written & { readonly moved: string | null }>(statement, values);
  if (typeof written?.moved === 'string')
    assertNotMoved({ movedTo: StoreMoved.safeParse(JSON.parse(written.moved)).data?.to ?? 'another store' });
  return written ?? { proven: false, fits: false, at: null };
}

function byName(one: Proof, other: Proof): number {
  return one.resource < other.resource ? -1 : 1;
}

/** For an append whose connection broke: when its rows were written, if they are in the store. */
export async function findRows(
  session: Session,
  { id, rows }: Append,
): Promise<readonly string[] | 'other' | 'none'> {
  const [first] = rows;
  const found = await session.query<{ append: string; at: string }>(
    `select append::text, at from lifeboat.entries e
     join unnest($1::text[], $2::bigint[]) with ordinality g(stream, seq, nr) using (stream, seq) order by nr`,
    columnsOf(rows, 'stream', 'seq'),
  );
  if (first === undefined || found.length === 0) return 'none';
  return found.length === rows.length && found.every(({ append }) => append === id)
    ? found.map(({ at }) => at)
    : 'other';
}

/*
 * Anyone who may insert into the table could add rows that another process would then sign into the log. So
 * each writer signs its append, and rows without the signature of a key that the log knows never get leaves.
 * The signature omits the time, which the database adds.
 */
const SIGNED = 'lifeboat-append';

/** Pure. */
function signedText(id: string, by: string, rows: readonly Signed[]): string {
  return `${id}\n${rows.map((row) => `${hashOf({ ...row, at: '', by })}\n`).join('')}`;
}

type Signed = Pick<FreshRow, 'stream' | 'seq' | 'type' | 'body'>;

function signatureOf({ id, by, rows }: Append, signer: Signer): string {
  const text = signedText(id, by, rows);
  return signer.note(text, SIGNED).slice(text.length);
}

/** A row without a leaf, as read from the store. */
export interface FreshRow extends LeafFields {
  readonly id: number;
  readonly append: string;
  readonly signature: string;
}

export function leafFieldsOf({ stream, seq, at, by, type, body }: FreshRow): LeafFields {
  return { stream, seq, at, by, type, body };
}

/** The first row whose append no known key signed, if any. `own` skips verifying its own signatures. */
export function unsignedRow(
  rows: readonly FreshRow[],
  keys: Iterable<KeyObject>,
  own?: Signer,
): FreshRow | undefined {
  const byId = Map.groupBy(keys, (key) => keyIdOf(SIGNED, key).toString('hex'));
  for (const [append, its] of Map.groupBy(rows, (row) => row.append)) {
    const [first] = its;
    if (first === undefined) continue;
    const { by, signature } = first;
    const isWhole = its.every((row) => row.by === by && row.signature === signature);
    const note = `${signedText(append, by, its)}${signature}`;
    if (isWhole && own?.hasMade(note, SIGNED)) continue;
    const signers = byId.get(claimedId(signature)) ?? [];
    if (!isWhole || openNote(note, SIGNED, signers).result !== 'signed') return first;
  }
  return undefined;
}

/** Only that key is tried. */
function claimedId(signature: string): string {
  const [, base64 = ''] = /^\n— [^ ]+ (.+)\n$/u.exec(signature) ?? [];
  return Buffer.from(base64, 'base64').toString('hex', 0, 4);
}

export interface Appended {
  readonly entries: readonly Entry[];
  /** Including the store's own. In leaf order. */
  readonly all: readonly Entry[];
}

export interface Waiting {
  readonly id: string;
  readonly prepared: readonly PreparedEntry[];
  readonly leases: readonly Lease[];
  readonly vouched: number;
  readonly wakes: readonly Wake[];
  readonly done: PromiseWithResolvers<Appended>;
  /** How many leading rows are the store's own. */
  own: number;
  /** If the database's clock was put back: the leading rows record it. */
  behind: Behind | undefined;
  /** As last sent; if the connection broke, the rows may or may not be stored. */
  sent: Append | undefined;
  /** When each row was written; set: they are stored. */
  at: readonly string[] | undefined;
  over: boolean;
}

/** In the order of the rows, which have leaves. */
export function entriesOf({ sent, at }: Waiting, leaves: ReadonlyMap<string, number>): readonly Entry[] {
  if (sent === undefined) return [];
  return sent.rows.map((row, nr) => {
    const fields = { ...row, at: at?.[nr] ?? '', by: sent.by };
    return hashedEntry({ index: leaves.get(keyOf(row)) ?? -1, ...fields, hash: hashOf(fields) });
  });
}

export function keyOf({ stream, seq }: { readonly stream: string; readonly seq: number }): string {
  return `${stream} ${seq}`;
}
