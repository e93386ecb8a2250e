import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { hashOf } from '../canonical.ts';
import { LOG_STREAM } from '../journal.ts';
import { STORE_MOVED } from '../log/log-entries.ts';
import { type Frontier, grow, nodeAt, peaksOf, rootOfFrontier } from '../log/merkle.ts';
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

export type Placed = readonly [stream: string, seq: number, leaf: number];

/** The answer of `lifeboat.claim`. */
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

/** The answer to `sendClaim`. */
export type Claimed = Promise<readonly { readonly claim: Claim }[]>;

export interface SequenceOptions {
  readonly signer: Signer;
  readonly projections: readonly Projection[];
  /** Read again if `isStale`. */
  readonly said: (session: Session, isStale: boolean) => Promise<LogSays>;
  /** The log's largest size that this process knows. */
  readonly known: () => number;
}

const CLAIM = 'select lifeboat.claim($1::text[], $2::bigint[], $3) as claim';

/** Right after a write, so that both take one round trip. */
export function sendClaim(
  session: Session,
  rows: readonly { readonly stream: string; readonly seq: number }[] | 'all',
): Claimed {
  const values = rows === 'all' ? [null, null, true] : [...columnsOf(rows, 'stream', 'seq'), false];
  return session.query<{ claim: Claim }>(CLAIM, values);
}

export interface Sequenced {
  readonly placed: readonly Placed[];
  /** Signed by this process; undefined if another process did. */
  readonly head: { readonly size: number; readonly root: string } | undefined;
  /** Rows remain: call again. */
  readonly isPartial: boolean;
  /** Nothing was done: the log does not know this installation yet, so its head would not be trusted. */
  readonly isUnknown?: boolean;
}

/**
 * After `sendClaim`: waits for another process to give the rows their leaves, or gives leaves to all
 * committed rows in one transaction, with rows of projections and the signed head, and then sends what `also`
 * sends in the same round trip. Throws `journal.damaged`, with nothing written, if the newest head does not
 * cover the leaves or no known key signed a row.
 */
export async function sequence(
  session: Session,
  claimed: Claimed,
  options: SequenceOptions,
  also?: () => void,
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
  const finished = () => {
    const released = release();
    also?.();
    return released;
  };
  try {
    return await lead(session, claim, options, finished);
  } finally {
    // If that fails, the connection is gone and so are the locks.
    if (!isReleased) await release().catch(() => undefined);
  }
}

async function lead(
  session: Session,
  claim: Claim,
  options: SequenceOptions,
  finished: () => Promise<unknown>,
): Promise<Sequenced> {
  const { signer, projections } = options;
  const { isPartial } = claim;
  const rows = upToMove(claim.entries ?? []);
  if (rows.length === 0) return { placed: [], head: undefined, isPartial: false };
  const said = await saidFor(session, claim, rows, options);
  if (!rows.some(({ type }) => type === STORE_MOVED)) assertNotMoved(said);
  if (!said.keys.has(signer.installation))
    return { placed: [], head: undefined, isPartial: false, isUnknown: true };
  // Of a hundred keys, only the signer's is tried.
  const keys = new Map([...said.keys].filter(([name]) => name === claim.head?.installation));
  const newest = claim.head === null ? undefined : { ...claim.head, vouched: 0 };
  const tip = verifiedTip({ frontier: frontierOf(claim), head: newest, said: { ...said, keys } }, signer);
  if (tip.frontier.size < options.known())
    throw rolledBack(`entry ${options.known() - 1} of the log is gone`);
  let { frontier } = tip;
  const leaves = rows.map((row) => {
    const hash = hashOf(row);
    const grown = grow(frontier, Buffer.from(hash, 'hex'));
    const entry = hashedEntry({ ...leafFieldsOf(row), index: frontier.size, hash });
    frontier = grown.frontier;
    return { id: row.id, entry, tree: grown.tree };
  });
  const entries = leaves.map(({ entry }) => entry);
  const root = rootOfFrontier(frontier).toString('hex');
  const kept = upToDate(projections, claim);
  const head = { size: frontier.size, root };
  const step = { said: hearLog(said, entries), before: tip.frontier.size, after: frontier.size, signer };
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
  // Released after the commit but before its answer: no process waits for this round trip.
  await session.atOnce(() => Promise.all([session.query(FINISH, values), finished()]));
  return { placed: entries.map(({ stream, seq, index }): Placed => [stream, seq, index]), head, isPartial };
}

const FINISH = `with leaves as (
  insert into lifeboat.leaves (leaf, id, hash, tree)
  select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])
), head as (
  insert into lifeboat.heads (size, note, installation, floor) values ($5::bigint, $6, $7, $8::xid8)
)
select lifeboat.keep($9::text[], $10::int[], $5::bigint, $11::json), pg_notify('lifeboat', ($5::bigint)::text)`;

/** Rows after the last entry of a moved store get no leaf. */
function upToMove(rows: readonly FreshRow[]): readonly FreshRow[] {
  const moved = rows.findIndex(({ stream, type }) => stream === LOG_STREAM && type === STORE_MOVED);
  return moved < 0 ? rows : rows.slice(0, moved + 1);
}

/** Read again if the signer is unknown to this process. */
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

function frontierOf({ head, leaves, peaks }: Claim): Frontier {
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

/** Without those of another version, and those that are behind. */
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
