import { randomUUID } from 'node:crypto';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { type Entry, LOG_STREAM, type Wake } from '../journal.ts';
import { inclusionProof, nodeAt, peaksOf, placeOf, provesInclusion, rootOfFrontier } from '../log/merkle.ts';
import { type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import { checkpointOfHead, clockEntries, ownEntries } from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import type { PreparedEntry } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import type { Lease } from './leases.ts';
import type { Link, Session } from './link.ts';
import type { Seen } from './log.ts';
import { columnsOf, hearStore, lastSeq, leftOf } from './queries.ts';
import { TAKE_LOG_STREAM } from './schema.ts';
import { type Claimed, type SequenceOptions, sendClaim, sequence } from './sequence.ts';
import { contentionError, isBroken, lostStore, persist, STOPS, sqlState, UNIQUE } from './trouble.ts';
import {
  type Append,
  type Appended,
  askBehind,
  entriesOf,
  findRows,
  keyOf,
  lacksQueue,
  type Row,
  type Waiting,
  type Written,
  writeRows,
} from './write.ts';

export interface WriterOptions {
  readonly link: Link;
  readonly by: string;
  readonly signer: Signer;
  readonly projections: readonly Projection[];
  readonly seen: Seen;
  /** Why the store rejects a lease's proof. */
  readonly whyLost: (lease: Lease) => Promise<LifeboatError>;
  /** After this an append whose connection broke is given up, and the journal with it. Milliseconds. */
  readonly patience: number;
}

export interface Writer {
  append(
    prepared: readonly PreparedEntry[],
    leases: readonly Lease[],
    more: { readonly vouched: number; readonly wakes: readonly Wake[] },
  ): Promise<Appended>;
  /** To rows that a dead process left without a leaf: of one stream, or all. */
  assignLeafIndexes(stream?: string): Promise<void>;
}

/** In one transaction. */
const GROUP = 50;
/** After another process wrote to `store/log` in between. */
const ATTEMPTS = 20;

/** One group after another; appends that arrive during one form the next. */
export function createWriter(options: WriterOptions): Writer {
  const { link, seen, signer, by, projections, patience } = options;
  const queue: Waiting[] = [];
  // By the lease under which only this process writes the stream, as long as it holds that.
  const lastSeqs = new WeakMap<Lease, number>();
  let isPumping = false;
  let lost: LifeboatError | undefined;
  let said: LogSays = NOTHING_SAID;
  let heardOn = 0;
  // On which the store was found to have no queue.
  let noQueueOn = 0;
  // Who gave the last rows their leaves is likely to do it again.
  let hasLed = true;

  const hear = async (session: Session, isStale: boolean): Promise<LogSays> => {
    if (!isStale && heardOn === session.connection) return said;
    said = await hearStore(session, heardOn === session.connection ? said : NOTHING_SAID);
    heardOn = session.connection;
    return said;
  };
  const sequencing: SequenceOptions = { signer, projections, said: hear, known: seen.size };

  /** After those in the store. */
  const number = async (
    session: Session,
    one: Waiting,
    seqs = new Map<string, number>(),
  ): Promise<Append> => {
    const { behind } = one;
    const own = [...(behind ? clockEntries(behind.newest, behind.now) : []), ...ownEntries(said, signer)];
    // After what was read of `store/log`, not after its present end: the store's own entries follow from it.
    if (!seqs.has(LOG_STREAM)) seqs.set(LOG_STREAM, said.seq);
    const rows: Row[] = [];
    for (const entry of [...own, ...one.prepared]) {
      const lease = one.leases.find(({ resource }) => resource === entry.stream);
      const known = seqs.get(entry.stream) ?? (lease && lastSeqs.get(lease));
      const last = known ?? (await lastSeq(session, entry.stream));
      seqs.set(entry.stream, last + 1);
      rows.push({ ...entry, seq: last + 1 });
    }
    one.own = own.length;
    const proofs = one.leases.map(({ proof }) => proof);
    const wakes = noQueueOn === session.connection ? [] : one.wakes;
    one.sent = { id: one.id, rows, proofs, by, vouched: one.vouched, wakes };
    return one.sent;
  };

  /** None of it is or will be stored: number its rows again. */
  const resetSend = (one: Waiting) => {
    one.sent = undefined;
    for (const lease of one.leases) lastSeqs.delete(lease);
  };

  /** Prefers the error of a lease that another process has. */
  const unproven = async ({ leases }: Waiting): Promise<LifeboatError> => {
    const reasons: LifeboatError[] = [];
    for (const lease of leases) {
      lease.lose('the store did not take it as proof');
      reasons.push(await options.whyLost(lease));
    }
    return reasons.find(({ code }) => code === 'journal.conflict') ?? reasons[0] ?? contentionError();
  };

  /** Numbers rows of the store's own stream while no one else writes to it; rows sent before keep theirs. */
  const writeInTurn = async (session: Session, one: Waiting, isAgain: boolean): Promise<Written> => {
    await session.atOnce(() => Promise.all([session.query('begin'), session.query(TAKE_LOG_STREAM)]));
    try {
      await hear(session, true);
      // Another process may have recorded meanwhile that the clock was put back.
      if (one.behind !== undefined && !isAgain) one.behind = await askBehind(session);
      const sent = one.sent !== undefined && isAgain ? one.sent : await number(session, one);
      const [written] = await session.atOnce(() =>
        Promise.all([writeRows(session, sent, signer), session.query('commit')]),
      );
      return written;
    } catch (error) {
      if (!isBroken(error)) await session.query('rollback');
      throw error;
    }
  };

  /** Phase 1: write one append that may already be stored. */
  const write = async (session: Session, one: Waiting): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (one.sent !== undefined) {
        const found = await findRows(session, one.sent);
        if (typeof found !== 'string') {
          one.at = found;
          return;
        }
        // Rows of another process have these numbers: those sent before can no longer arrive.
        if (found === 'other') resetSend(one);
      }
      const isAgain = one.sent !== undefined;
      await hear(session, attempt > 0);
      const sent = one.sent ?? (await number(session, one));
      if (sent.rows.length === 0) {
        one.at = [];
        return;
      }
      const isShared = sent.rows.some(({ stream }) => stream === LOG_STREAM);
      const write = isShared ? writeInTurn(session, one, isAgain) : writeRows(session, sent, signer);
      const written = await write.catch((error: unknown) => {
        if (sqlState(error) === UNIQUE) return undefined;
        if (sent.wakes.length === 0 || !lacksQueue(error)) throw error;
        noQueueOn = session.connection;
        return undefined;
      });
      if (written?.at != null) {
        one.at = written.at;
        return;
      }
      // The first attempt may have proven its leases in time and may commit later.
      if (written?.proven === false && isAgain)
        throw lostStore(new Error('its lease ended before the database answered again'));
      resetSend(one);
      one.behind = written?.behind ?? undefined;
      if (written?.proven === false) throw await unproven(one);
    }
    throw contentionError();
  };

  /** Both phases for one group. Skips what an earlier attempt did or found done. */
  const group = async (session: Session, all: readonly Waiting[]): Promise<void> => {
    await hear(session, false);
    const missing = () => all.filter(({ over, at }) => !over && at === undefined);
    const isFresh = missing().every(({ sent }) => sent === undefined);
    const leaves = new Map<string, number>();
    let back: ReadBack | undefined;
    if (isFresh && said.keys.has(signer.installation)) back = await together(session, missing(), leaves);
    for (const one of missing())
      await write(session, one).catch((error: unknown) => {
        if (isBroken(error)) throw error;
        fail(one, error);
      });
    const open = all.filter(({ over }) => !over);
    const rows = open.flatMap(({ sent }) => sent?.rows ?? []);
    while (rows.some((row) => !leaves.has(keyOf(row)))) {
      // What was read back before lacks these rows.
      back = undefined;
      const isPlaced = await place(session, sendClaim(session, rows), leaves);
      // The database was put back between the phases: there are no rows to place.
      if (!isPlaced) throw seen.gone();
    }
    const written = open.map((one) => entriesOf(one, leaves));
    if (rows.length > 0)
      await assertKept(session, back ?? (await sendReadBack(session, rows)), written.flat(), sequencing);
    for (const [nr, one] of open.entries()) finish(one, written[nr] ?? []);
  };

  /**
   * Both phases for fresh appends in one round trip, several in one transaction, and what `sendReadBack` then
   * reads, unless it was sent too early. Refused appends are left to be tried alone; all of them are, if one
   * blocks the transaction.
   */
  const together = async (
    session: Session,
    missing: readonly Waiting[],
    leaves: Map<string, number>,
  ): Promise<ReadBack | undefined> => {
    const seqs = new Map<string, number>();
    const sent: Append[] = [];
    for (const one of missing) sent.push(await number(session, one, seqs));
    const frame = (statement: string) => (sent.length > 1 ? [session.query(statement)] : []);
    const rows = sent.flatMap((append) => append.rows);
    let back: Promise<ReadBack | undefined> | undefined;
    const askBack = () => {
      back = sendReadBack(session, rows);
      back.catch(() => undefined);
    };
    const [writing, claimed] = session.atOnce(() => {
      const begun = frame('begin');
      const writes = sent.map((append) => writeRows(session, append, signer));
      const all = Promise.allSettled([Promise.all(writes), ...begun, ...frame('commit')]);
      const claim = sendClaim(session, rows);
      if (!hasLed) askBack();
      return [all, claim] as const;
    });
    claimed.catch(() => undefined);
    const [written, ...rest] = await writing;
    const failed = [written, ...rest].find((result) => result.status === 'rejected');
    if (failed?.status === 'rejected' && isBroken(failed.reason)) throw failed.reason;
    for (const [nr, one] of missing.entries()) {
      one.at =
        (failed === undefined && written?.status === 'fulfilled' && written.value[nr]?.at) || undefined;
      if (one.at === undefined) resetSend(one);
    }
    await place(session, claimed, leaves, askBack);
    return back;
  };

  /** Phase 2. False if there was nothing to do. For `also` see `sequence`. */
  const place = async (
    session: Session,
    claimed: Claimed,
    leaves: Map<string, number>,
    also?: () => void,
  ): Promise<boolean> => {
    const { placed, head } = await sequence(session, claimed, sequencing, also);
    hasLed = head !== undefined;
    if (head !== undefined) seen.signed(head);
    for (const [stream, seq, leaf] of placed) leaves.set(keyOf({ stream, seq }), leaf);
    return placed.length > 0;
  };

  const finish = (one: Waiting, entries: readonly Entry[]): void => {
    for (const entry of entries) {
      seen.acknowledged(entry);
      const lease = one.leases.find(({ resource }) => resource === entry.stream);
      if (lease !== undefined) lastSeqs.set(lease, entry.seq);
    }
    one.over = true;
    one.done.resolve({ entries: entries.slice(one.own), all: entries });
  };

  const fail = (one: Waiting, error: unknown): void => {
    // Committed rows without a leaf get one from the next process that opens the store.
    const mayArrive = one.sent !== undefined;
    const isExplained =
      error instanceof LifeboatError && !isBroken(error) && (!mayArrive || STOPS.has(error.code));
    const reason = isExplained ? error : lostStore(error);
    if (mayArrive || reason.code === 'journal.lost') lost = reason;
    one.over = true;
    one.done.reject(reason);
  };

  const pump = async (): Promise<void> => {
    isPumping = true;
    for (let all = queue.splice(0, GROUP); all.length > 0; all = queue.splice(0, GROUP)) {
      const attempt = () => {
        // Committed rows may have been lost with a server: look for them again.
        for (const one of all) one.at = undefined;
        return link.use((session) => group(session, all));
      };
      try {
        if (lost !== undefined) throw lost;
        await persist(attempt, patience);
      } catch (error) {
        for (const one of all) if (!one.over) fail(one, error);
      }
    }
    isPumping = false;
  };

  const append: Writer['append'] = (prepared, leases, { vouched, wakes }) => {
    if (lost !== undefined) return Promise.reject(lost);
    const done = Promise.withResolvers<Appended>();
    const fresh = { own: 0, behind: undefined, sent: undefined, at: undefined, over: false };
    queue.push({ id: randomUUID(), prepared, leases, vouched, wakes, done, ...fresh });
    if (!isPumping) void pump();
    return done.promise;
  };

  return {
    append,
    async assignLeafIndexes(stream) {
      const work = async (session: Session): Promise<boolean> => {
        const left = stream === undefined ? 'all' : await leftOf(session, stream);
        if (left.length === 0) return true;
        for (;;) {
          const done = await sequence(session, sendClaim(session, left), sequencing);
          if (done.head !== undefined) seen.signed(done.head);
          if (done.isUnknown === true) return false;
          if (!done.isPartial) return true;
        }
      };
      const isDone = await persist(() => link.use(work), patience);
      // First announces the key; that append gives the remaining rows their leaves.
      if (!isDone) await append([], [], { vouched: 0, wakes: [] });
    },
  };
}

/*
 * The server says that rows have leaves, but its owner controls what it says. So the writer reads back what
 * the owner cannot forge: the newest head, signed by a key of the log, and the nodes from the writer's own
 * rows to its root. One look-up per node: no plan for that slows down as the table grows.
 */
const READ_BACK = `with mine as materialized (
  select e.stream, e.seq, l.leaf from unnest($1::text[], $2::bigint[]) g(stream, seq)
    cross join lateral (
      select e.id, e.stream, e.seq from lifeboat.entries e where e.stream = g.stream and e.seq = g.seq limit 1
    ) e
    cross join lateral (select l.leaf from lifeboat.leaves l where l.id = e.id limit 1) l
), newest as materialized (
  select size, note, installation from lifeboat.heads order by size desc limit 1
), wanted as (
  select ((size >> k) << k) - 1 as leaf from newest, generate_series(0, 52) k where (size >> k) & 1 = 1
  union
  select ((((leaf >> k) # 1) + 1) << k) - 1 from mine, newest, generate_series(0, 52) k
    where ((((leaf >> k) # 1) + 1) << k) <= size
)
select (select json_agg(json_build_array(stream, seq, leaf)) from mine) as rows,
  (select row_to_json(newest) from newest) as head,
  (select json_agg(json_build_array(n.leaf, n.hash, n.tree)) from wanted w cross join lateral (
    select l.leaf, encode(l.hash, 'hex') as hash, encode(l.tree, 'hex') as tree
      from lifeboat.leaves l where l.leaf = w.leaf limit 1
  ) n) as nodes`;

/** The writer's own rows, and the tree around them. */
interface ReadBack {
  readonly rows: readonly (readonly [stream: string, seq: number, leaf: number])[] | null;
  readonly head: { readonly size: number; readonly note: string; readonly installation: string } | null;
  readonly nodes: readonly (readonly [leaf: number, hash: string, tree: string])[] | null;
}

interface ReadBackOptions {
  readonly signer: Signer;
  /** Read again if `isStale`. */
  readonly said: (session: Session, isStale: boolean) => Promise<LogSays>;
}

async function sendReadBack(
  session: Session,
  rows: readonly { readonly stream: string; readonly seq: number }[],
): Promise<ReadBack | undefined> {
  const [answer] = await session.query<ReadBack>(READ_BACK, [...columnsOf(rows, 'stream', 'seq')]);
  return answer;
}

/** Each entry has its leaf under the newest head, signed by a key of the log; else `journal.damaged`. */
async function assertKept(
  session: Session,
  answer: ReadBack | undefined,
  entries: readonly Entry[],
  { signer, said }: ReadBackOptions,
): Promise<void> {
  const head = answer?.head ?? undefined;
  if (answer === undefined || head === undefined) throw notKept('there is no signed head');
  let says = await said(session, false);
  if (!says.keys.has(head.installation)) says = await said(session, true);
  const checkpoint = checkpointOfHead(head, says, signer);
  if (checkpoint === undefined) throw notKept('no key that the log knows has signed its newest head');
  const nodes = new Map(answer.nodes?.map(([leaf, hash, tree]) => [leaf, bytesOf(hash, tree)]));
  const nodeOf = (level: number, index: number) => {
    const { leaf, place } = placeOf(level, index);
    return nodeAt(nodes.get(leaf), place) ?? Buffer.alloc(0);
  };
  const peaks = peaksOf(head.size).map(({ level, index }) => Buffer.from(nodeOf(level, index)));
  const root = rootOfFrontier({ size: head.size, peaks });
  if (checkpoint.size !== head.size || checkpoint.root !== root.toString('hex'))
    throw notKept('its newest signed head does not cover what is there');
  const leaves = new Map(answer.rows?.map(([stream, seq, leaf]) => [keyOf({ stream, seq }), leaf]));
  for (const { stream, seq, index, hash } of entries) {
    const isIn =
      leaves.get(keyOf({ stream, seq })) === index &&
      index < head.size &&
      provesInclusion(
        Buffer.from(hash, 'hex'),
        index,
        head.size,
        inclusionProof(index, head.size, nodeOf),
        root,
      );
    if (!isIn) throw notKept(`entry ${seq} of ${show(stream, 120)} is not in what was signed`);
  }
}

function bytesOf(hash: string, tree: string) {
  return { hash: Buffer.from(hash, 'hex'), tree: Buffer.from(tree, 'hex') };
}

function notKept(what: string): LifeboatError {
  return new LifeboatError(
    'journal.damaged',
    `the database says that it has written, and it has not: ${what}`,
    {
      hints: [
        'no further step is taken: what is not on record is not done',
        'its functions or tables may have been changed: ask the owner of the database, then `lifeboat audit verify`',
      ],
    },
  );
}
