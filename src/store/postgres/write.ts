import type { KeyObject } from 'node:crypto';
import { hashOf } from '../canonical.ts';
import { type Entry, type LeafFields, LOG_STREAM } from '../journal.ts';
import { CLOCK_MOVED, MAX_BEHIND, STORE_MOVED, StoreMoved } from '../log/log-entries.ts';
import { assertNotMoved } from '../log/next-leaves.ts';
import { keyId, openNote, rawPublicKey } from '../log/signed-note.ts';
import type { Signer } from '../log/signer.ts';
import { hashedEntry, type PreparedEntry } from '../new-entry.ts';
import type { Lease } from './leases.ts';
import type { Session } from './link.ts';
import { columnsOf } from './queries.ts';

/** What an append proves of a lease, in its own transaction. */
export interface Proof {
  readonly resource: string;
  readonly token: number;
  readonly nonce: string;
}

/** A row of `entries` that is being written; its writer, who holds the stream, says where it goes. */
export interface Row extends PreparedEntry {
  readonly seq: number;
}

export interface Append {
  /** Drawn at random: tells this append from any other, whatever became of the connection. */
  readonly id: string;
  readonly rows: readonly Row[];
  readonly proofs: readonly Proof[];
  readonly by: string;
  /** Up to which size the home place of this installation has its checkpoint; 0 for nothing new. */
  readonly vouched: number;
}

export interface Written {
  /** Every lease was proven. Nothing was written otherwise. */
  readonly proven: boolean;
  /** Each stream goes on where the rows begin. Nothing was written otherwise. */
  readonly fits: boolean;
  /** The newest entry is of a time that is still to come, by the database's clock. Nothing was written. */
  readonly behind?: Behind | null;
  /** When each row was written, by the database's clock, in order of the rows; null where nothing was. */
  readonly at: readonly string[] | null;
}

/** A clock that was put back: when the newest entry was written, and what the clock shows now. */
export interface Behind {
  readonly newest: string;
  readonly now: string;
}

/** As entries are dated. */
const DATE = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** Seconds that a clock may be behind without a word; the same as for every store (`clockNote`). */
const BEHIND = `(select json_build_object('newest', e.at,
    'now', to_char(clock_timestamp() at time zone 'UTC', ${DATE}))
  from (select at from lifeboat.entries order by id desc limit 1) e
  where e.at > to_char((clock_timestamp() + interval '${MAX_BEHIND} s') at time zone 'UTC', ${DATE}))`;

/** Whether the clock of the database stands behind the newest entry. */
export async function askBehind(session: Session): Promise<Behind | undefined> {
  const [row] = await session.query<{ readonly behind: Behind | null }>(`select ${BEHIND} as behind`);
  return row?.behind ?? undefined;
}

/*
 * One statement, so that it is one transaction and one way there and back. A lease that is being taken over
 * is waited for and found to be another's; one that is proven cannot be taken over before this is committed.
 * Leases are locked in the order of their names, as those who renew them do, or two would wait for each
 * other.
 */
const writing = ({ held, proofs, given, firsts, order }: Source) => `with held as materialized (
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
select proven, fits, moved, behind, (select json_agg(at order by id) from written) as at from state`;

/** Where a statement that writes takes its leases and rows from. */
interface Source {
  readonly held: string;
  /** How many leases have to be proven. */
  readonly proofs: string;
  readonly given: string;
  /** Of each stream the number of the first row. */
  readonly firsts: string;
  readonly order: string;
}

const WRITE = writing({
  held: `join unnest($1::text[], $2::bigint[], $3::uuid[]) h(resource, token, nonce)
  on l.resource = h.resource
  where l.token = h.token and l.nonce = h.nonce and l.until > clock_timestamp() order by l.resource`,
  proofs: 'cardinality($1)',
  given: `select * from unnest($4::text[], $5::bigint[], $6::text[], $7::text[])
    with ordinality g(stream, seq, type, body, nr)`,
  firsts: 'select stream, min(seq) as first from given group by stream',
  order: 'order by nr',
});

/** Most appends are one row under one lease: without arrays, sets and sorts the server needs less time. */
const WRITE_ONE = writing({
  held: `where l.resource = $1 and l.token = $2::bigint and l.nonce = $3::uuid
  and l.until > clock_timestamp()`,
  proofs: '1',
  given: 'select $4::text as stream, $5::bigint as seq, $6::text as type, $7::text as body',
  firsts: 'select stream, seq as first from given',
  order: '',
});

/**
 * Commits the rows of an append, or nothing of them. They are no part of the log until they have leaves.
 * Rejects with `journal.moved` when the log goes on in another store.
 */
export async function writeRows(session: Session, append: Append, signer: Signer): Promise<Written> {
  const { id, rows, proofs, by, vouched } = append;
  const isNoted = rows.some(({ stream, type }) => stream === LOG_STREAM && type === CLOCK_MOVED);
  const signed = [by, id, signatureOf(append, signer), signer.installation, vouched, isNoted];
  const [row, proof] = [rows[0], proofs[0]];
  const isOne = rows.length === 1 && proofs.length === 1 && row !== undefined && proof !== undefined;
  const given = isOne
    ? [proof.resource, proof.token, proof.nonce, row.stream, row.seq, row.type, row.body]
    : [
        ...columnsOf(proofs.toSorted(byName), 'resource', 'token', 'nonce'),
        ...columnsOf(rows, 'stream', 'seq', 'type', 'body'),
      ];
  const statement = isOne ? WRITE_ONE : WRITE;
  const values = [...given, ...signed];
  const [written] = await session.query<Written & { readonly moved: string | null }>(statement, values);
  if (typeof written?.moved === 'string')
    assertNotMoved({ movedTo: StoreMoved.safeParse(JSON.parse(written.moved)).data?.to ?? 'another store' });
  return written ?? { proven: false, fits: false, at: null };
}

function byName(one: Proof, other: Proof): number {
  return one.resource < other.resource ? -1 : 1;
}

/** The rows that an append has left in the store, after its connection broke: when each was written. */
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
 * Whoever may insert into the table could put rows there that another process would then make part of the log
 * and sign. So each append is signed by its writer, and rows without the signature of a key that the log
 * knows are never given leaves. The time is the database's, which the writer does not know yet.
 */
const SIGNED = 'lifeboat-append';

/** An append as its signature covers it. Pure. */
function signedText(id: string, by: string, rows: readonly Signed[]): string {
  return `${id}\n${rows.map((row) => `${hashOf({ ...row, at: '', by })}\n`).join('')}`;
}

type Signed = Pick<FreshRow, 'stream' | 'seq' | 'type' | 'body'>;

function signatureOf({ id, by, rows }: Append, signer: Signer): string {
  const text = signedText(id, by, rows);
  return signer.note(text, SIGNED).slice(text.length);
}

/** A row without a leaf as the store gives it. */
export interface FreshRow extends LeafFields {
  readonly id: number;
  readonly append: string;
  readonly signature: string;
}

export function leafFieldsOf({ stream, seq, at, by, type, body }: FreshRow): LeafFields {
  return { stream, seq, at, by, type, body };
}

/**
 * The first row whose append no known key has signed as it is there; undefined when all are well. `own`: who
 * needs no proof of what it has signed itself.
 */
export function unsignedRow(
  rows: readonly FreshRow[],
  keys: Iterable<KeyObject>,
  own?: Signer,
): FreshRow | undefined {
  const byId = Map.groupBy(keys, idOf);
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

/** What a signature line begins with: which key it says to be of. Only that one is tried. */
function claimedId(signature: string): string {
  const [, base64 = ''] = /^\n— [^ ]+ (.+)\n$/u.exec(signature) ?? [];
  return Buffer.from(base64, 'base64').toString('hex', 0, 4);
}

const ids = new WeakMap<KeyObject, string>();

function idOf(key: KeyObject): string {
  const id = ids.get(key) ?? keyId(SIGNED, rawPublicKey(key)).toString('hex');
  ids.set(key, id);
  return id;
}

export interface Appended {
  /** Those that were asked for. */
  readonly entries: readonly Entry[];
  /** With those of the store itself, in order of their leaves. */
  readonly all: readonly Entry[];
}

/** An append on its way. */
export interface Waiting {
  readonly id: string;
  readonly prepared: readonly PreparedEntry[];
  readonly leases: readonly Lease[];
  readonly vouched: number;
  readonly done: PromiseWithResolvers<Appended>;
  /** How many rows in front are the store's own. */
  own: number;
  /** The clock of the database was put back: the rows in front say so. */
  behind: Behind | undefined;
  /** The rows as they were sent last; where the connection broke, it is not known whether they are there. */
  sent: Append | undefined;
  /** When each row was written; then they are there. */
  at: readonly string[] | undefined;
  over: boolean;
}

/** The entries of an append whose rows are there and have leaves, in order of its rows. */
export function entriesOf({ sent, at }: Waiting, leaves: ReadonlyMap<string, number>): readonly Entry[] {
  if (sent === undefined) return [];
  return sent.rows.map((row, nr) => {
    const fields = { ...row, at: at?.[nr] ?? '', by: sent.by };
    return hashedEntry({ index: leaves.get(keyOf(row)) ?? -1, ...fields, hash: hashOf(fields) });
  });
}

/** Names a row by its place in its stream. */
export function keyOf({ stream, seq }: { readonly stream: string; readonly seq: number }): string {
  return `${stream} ${seq}`;
}
