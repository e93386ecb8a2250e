import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { hashOf } from '../canonical.ts';
import { LOG_STREAM } from '../journal.ts';
import { STORE_MOVED } from '../log/log-entries.ts';
import { grow, nodeAt, peaksOf, type Rim, rootOfRim } from '../log/merkle.ts';
import { hearLog, type LogSays } from '../log/named-keys.ts';
import { assertNotMoved, verifiedTip } from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import { hashedEntry } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import type { Session } from './link.ts';
import { columnsOf } from './queries.ts';
import { foldRows, type Version } from './rows.ts';
import { RELEASE } from './schema.ts';
import { rolledBack } from './trouble.ts';
import { type FreshRow, leafFieldsOf, unsignedRow } from './write.ts';

/** Which leaf a row has got. */
export type Placed = readonly [stream: string, seq: number, leaf: number];

/** What `lifeboat.claim` answers. */
interface Claim {
  readonly done?: readonly Placed[] | null;
  readonly head: { readonly size: number; readonly note: string; readonly installation: string } | null;
  readonly floor: string;
  readonly horizon: string;
  readonly leaves: number;
  readonly peaks: readonly { readonly hash: string; readonly tree: string }[] | null;
  readonly projections: readonly Version[] | null;
  readonly entries: readonly FreshRow[] | null;
  readonly isPartial: boolean;
}

/** The answer to `sendClaim`, which `sequence` goes on with. */
export type Claimed = Promise<readonly { readonly claim: Claim }[]>;

export interface SequenceOptions {
  readonly signer: Signer;
  readonly projections: readonly Projection[];
  /** What the log says of its keys, read anew when `isStale`. */
  readonly said: (session: Session, isStale: boolean) => Promise<LogSays>;
  /** The size that this process knows the log to have had. */
  readonly known: () => number;
}

const CLAIM = 'select lifeboat.claim($1::text[], $2::bigint[], $3) as claim';

/** Claims; sent behind a write, so that both are one way there and back. */
export function sendClaim(
  session: Session,
  rows: readonly { readonly stream: string; readonly seq: number }[] | 'all',
): Claimed {
  const values = rows === 'all' ? [null, null, true] : [...columnsOf(rows, 'stream', 'seq'), false];
  return session.query<{ claim: Claim }>(CLAIM, values);
}

export interface Sequenced {
  readonly placed: readonly Placed[];
  /** The head that this process has signed; undefined when another one did. */
  readonly head: { readonly size: number; readonly root: string } | undefined;
  /** Rows were left over: call again. */
  readonly isPartial: boolean;
  /** Nothing was done: the log does not know this installation yet, and nobody would believe its head. */
  readonly isUnknown?: boolean;
}

/**
 * Goes on after `sendClaim`: waits for another process that gives the rows their leaves, or does it for all
 * rows that are committed, in one transaction: leaves, rows of projections, the signed head. Throws
 * `journal.damaged`, with nothing written, where the newest head does not cover the leaves or a row was
 * written by nobody whom the log knows.
 */
export async function sequence(
  session: Session,
  claimed: Claimed,
  options: SequenceOptions,
): Promise<Sequenced> {
  const [answer] = await claimed;
  const claim = answer?.claim;
  if (claim === undefined || claim.done !== undefined)
    return { placed: claim?.done ?? [], head: undefined, isPartial: false };
  let isReleased = false;
  const release = () => {
    isReleased = true;
    return session.query(RELEASE);
  };
  try {
    return await lead(session, claim, options, release);
  } finally {
    // The connection is gone where it fails, and the locks with it.
    if (!isReleased) await release().catch(() => undefined);
  }
}

async function lead(
  session: Session,
  claim: Claim,
  options: SequenceOptions,
  release: () => Promise<unknown>,
): Promise<Sequenced> {
  const { signer, projections } = options;
  const { isPartial } = claim;
  const rows = upToMove(claim.entries ?? []);
  if (rows.length === 0) return { placed: [], head: undefined, isPartial: false };
  const said = await saidFor(session, claim, rows, options);
  if (!rows.some(({ type }) => type === STORE_MOVED)) assertNotMoved(said);
  if (!said.keys.has(signer.installation))
    return { placed: [], head: undefined, isPartial: false, isUnknown: true };
  // Of a hundred keys, only that of who signed it is tried.
  const keys = new Map([...said.keys].filter(([name]) => name === claim.head?.installation));
  const newest = claim.head === null ? undefined : { ...claim.head, vouched: 0 };
  const tip = verifiedTip({ rim: rimOf(claim), head: newest, said: { ...said, keys } }, signer);
  if (tip.rim.size < options.known()) throw rolledBack(`entry ${options.known() - 1} of the log is gone`);
  let { rim } = tip;
  const leaves = rows.map((row) => {
    const hash = hashOf(row);
    const grown = grow(rim, Buffer.from(hash, 'hex'));
    const entry = hashedEntry({ ...leafFieldsOf(row), index: rim.size, hash });
    rim = grown.rim;
    return { id: row.id, entry, tree: grown.tree };
  });
  const entries = leaves.map(({ entry }) => entry);
  const root = rootOfRim(rim).toString('hex');
  const kept = upToDate(projections, claim);
  const head = { size: rim.size, root };
  const step = { said: hearLog(said, entries), before: tip.rim.size, after: rim.size, signer };
  const folded = await foldRows(session, kept, entries, step);
  const note = signer.sign({ origin: step.said.origin ?? '', ...head, armed: [] });
  const values = [
    leaves.map(({ entry }) => entry.index),
    leaves.map(({ id }) => id),
    leaves.map(({ entry }) => Buffer.from(entry.hash, 'hex')),
    leaves.map(({ tree }) => tree),
    head.size,
    note,
    signer.installation,
    isPartial ? claim.floor : claim.horizon,
    kept.map(({ name }) => name),
    kept.map(({ version }) => version),
    JSON.stringify(folded),
  ];
  // Behind the commit, and before its answer: nobody waits for this process while it waits.
  await session.atOnce(() => Promise.all([session.query(FINISH, values), release()]));
  return { placed: entries.map(({ stream, seq, index }): Placed => [stream, seq, index]), head, isPartial };
}

const FINISH = `with leaves as (
  insert into lifeboat.leaves (leaf, id, hash, tree)
  select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])
), head as (
  insert into lifeboat.heads (size, note, installation, floor) values ($5::bigint, $6, $7, $8::xid8)
)
select lifeboat.keep($9::text[], $10::int[], $5::bigint, $11::json), pg_notify('lifeboat', ($5::bigint)::text)`;

/** What was committed behind the last entry of a store that was moved gets no leaf. */
function upToMove(rows: readonly FreshRow[]): readonly FreshRow[] {
  const moved = rows.findIndex(({ stream, type }) => stream === LOG_STREAM && type === STORE_MOVED);
  return moved < 0 ? rows : rows.slice(0, moved + 1);
}

/** The keys that the log knows, refreshed where somebody signed whom this process has not heard of. */
async function saidFor(
  session: Session,
  { head }: Claim,
  rows: readonly FreshRow[],
  options: SequenceOptions,
): Promise<LogSays> {
  let said = await options.said(session, false);
  let foreign = unsignedRow(rows, said.keys.values(), options.signer);
  const signers = [options.signer.installation, ...(head === null ? [] : [head.installation])];
  if (foreign !== undefined || signers.some((name) => !said.keys.has(name))) {
    said = await options.said(session, true);
    foreign &&= unsignedRow(rows, said.keys.values());
  }
  if (foreign === undefined) return said;
  const what = `entry ${foreign.seq} of ${show(foreign.stream, 120)}`;
  throw new LifeboatError('journal.damaged', `${what} was not written by an installation of this journal`, {
    hints: [
      'it is not part of the log, and nothing more is signed while it is there',
      `the owner of the database finds it with: select * from lifeboat.entries where id = ${foreign.id}`,
    ],
    evidence: { stream: foreign.stream, seq: foreign.seq, by: foreign.by, at: foreign.at },
  });
}

function rimOf({ head, leaves, peaks }: Claim): Rim {
  const size = head?.size ?? 0;
  const names = peaksOf(size);
  const found = names.map(({ level }, index) => {
    const stored = peaks?.[index];
    const bytes = stored && { hash: Buffer.from(stored.hash, 'hex'), tree: Buffer.from(stored.tree, 'hex') };
    return Buffer.from(nodeAt(bytes, level - 1) ?? []);
  });
  // Leaves that no head covers make the size differ, and missing ones the root.
  return { size: leaves, peaks: found };
}

/** The projections to go on with: not those of another version, nor such as are behind. */
function upToDate(
  projections: readonly Projection[],
  { head, projections: versions }: Claim,
): readonly Projection[] {
  const size = head?.size ?? 0;
  return projections.filter(({ name, version }) => {
    const kept = versions?.find((one) => one.name === name && one.version === version);
    return (kept?.upto ?? 0) === size;
  });
}
