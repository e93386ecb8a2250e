import { randomUUID } from 'node:crypto';
import { LifeboatError } from '../../base/errors.ts';
import { type Entry, LOG_STREAM } from '../journal.ts';
import { type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import { clockEntries, ownEntries } from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import type { PreparedEntry } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import type { Lease } from './leases.ts';
import type { Link, Session } from './link.ts';
import type { Seen } from './log.ts';
import { hearStore, lastSeq, leftOf } from './queries.ts';
import { readBack } from './read-back.ts';
import { TAKE_LOG_STREAM } from './schema.ts';
import { type Claimed, type SequenceOptions, sendClaim, sequence } from './sequence.ts';
import { crowded, isBroken, lostStore, persist, STOPS, sqlState, UNIQUE } from './trouble.ts';
import {
  type Append,
  type Appended,
  askBehind,
  entriesOf,
  findRows,
  keyOf,
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
  /** Why the store does not take the proof of a lease. */
  readonly whyLost: (lease: Lease) => Promise<LifeboatError>;
  /** Milliseconds after which an append whose connection broke is given up, and the journal with it. */
  readonly patience: number;
}

export interface Writer {
  append(prepared: readonly PreparedEntry[], leases: readonly Lease[], vouched: number): Promise<Appended>;
  /** Gives leaves to rows that a process left without when it died: those of one stream, or all. */
  giveLeaves(stream?: string): Promise<void>;
}

/** Appends that go into one transaction, at most. */
const GROUP = 50;
/** Another process wrote to `store/log` meanwhile: how often to try again behind it. */
const ATTEMPTS = 20;

/** Appends one group after the other; what arrives meanwhile is the next group. */
export function createWriter(options: WriterOptions): Writer {
  const { link, seen, signer, by, projections, patience } = options;
  const queue: Waiting[] = [];
  // The last number of a stream, by the lease under which nobody else can write it.
  const lastSeqs = new Map<string, number>();
  let isPumping = false;
  let lost: LifeboatError | undefined;
  let said: LogSays = NOTHING_SAID;
  let heardOn = 0;

  const hear = async (session: Session, isStale: boolean): Promise<LogSays> => {
    if (!isStale && heardOn === session.connection) return said;
    said = await hearStore(session, heardOn === session.connection ? said : NOTHING_SAID);
    heardOn = session.connection;
    return said;
  };
  const sequencing: SequenceOptions = { signer, projections, said: hear, known: seen.size };

  /** Numbers the rows behind what is in the store. */
  const number = async (
    session: Session,
    one: Waiting,
    seqs = new Map<string, number>(),
  ): Promise<Append> => {
    const { behind } = one;
    const own = [...(behind ? clockEntries(behind.newest, behind.now) : []), ...ownEntries(said, signer)];
    // Behind what was heard, and not what is there by now: the store's own entries follow from that.
    if (!seqs.has(LOG_STREAM)) seqs.set(LOG_STREAM, said.seq);
    const rows: Row[] = [];
    for (const entry of [...own, ...one.prepared]) {
      const nonce = one.leases.find(({ resource }) => resource === entry.stream)?.proof.nonce ?? '';
      const last = seqs.get(entry.stream) ?? lastSeqs.get(nonce) ?? (await lastSeq(session, entry.stream));
      seqs.set(entry.stream, last + 1);
      rows.push({ ...entry, seq: last + 1 });
    }
    one.own = own.length;
    const proofs = one.leases.map(({ proof }) => proof);
    one.sent = { id: one.id, rows, proofs, by, vouched: one.vouched };
    return one.sent;
  };

  /** Nothing of it is there, and nothing will arrive: its rows are numbered anew. */
  const unsend = (one: Waiting) => {
    one.sent = undefined;
    for (const { proof } of one.leases) lastSeqs.delete(proof.nonce);
  };

  /** A lease is not this process's any more: the error of the first that somebody else has. */
  const unproven = async ({ leases }: Waiting): Promise<LifeboatError> => {
    const reasons: LifeboatError[] = [];
    for (const lease of leases) {
      lease.lose('the store did not take it as proof');
      reasons.push(await options.whyLost(lease));
    }
    return reasons.find(({ code }) => code === 'journal.conflict') ?? reasons[0] ?? crowded();
  };

  /**
   * Rows for the stream of the store itself are numbered while nobody else writes to it; those that were sent
   * before keep their numbers.
   */
  const writeInTurn = async (session: Session, one: Waiting, isAgain: boolean): Promise<Written> => {
    await session.atOnce(() => Promise.all([session.query('begin'), session.query(TAKE_LOG_STREAM)]));
    try {
      await hear(session, true);
      // Another process may have noted by now that the clock was put back.
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

  /** Step one for one append of which it is not known that it is there. */
  const write = async (session: Session, one: Waiting): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (one.sent !== undefined) {
        const found = await findRows(session, one.sent);
        if (typeof found !== 'string') {
          one.at = found;
          return;
        }
        // Where another's rows are, those that were sent cannot arrive any more: they have the same numbers.
        if (found === 'other') unsend(one);
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
        throw error;
      });
      if (written?.at != null) {
        one.at = written.at;
        return;
      }
      // What was sent first may have proven its leases in time, and be committed later.
      if (written?.proven === false && isAgain)
        throw lostStore(new Error('its lease ended before the database answered again'));
      unsend(one);
      one.behind = written?.behind ?? undefined;
      if (written?.proven === false) throw await unproven(one);
    }
    throw crowded();
  };

  /** Both steps for one group. What an earlier attempt has done, or found there, is not done again. */
  const group = async (session: Session, all: readonly Waiting[]): Promise<void> => {
    await hear(session, false);
    const missing = () => all.filter(({ over, at }) => !over && at === undefined);
    const isFresh = missing().every(({ sent }) => sent === undefined);
    const leaves = new Map<string, number>();
    if (isFresh && said.keys.has(signer.installation)) await together(session, missing(), leaves);
    for (const one of missing())
      await write(session, one).catch((error: unknown) => {
        if (isBroken(error)) throw error;
        fail(one, error);
      });
    const open = all.filter(({ over }) => !over);
    const rows = open.flatMap(({ sent }) => sent?.rows ?? []);
    while (rows.some((row) => !leaves.has(keyOf(row)))) {
      const isPlaced = await place(session, sendClaim(session, rows), leaves);
      // A database that was put back between the two steps has no rows to place.
      if (!isPlaced) throw seen.gone();
    }
    const written = open.map((one) => entriesOf(one, leaves));
    if (rows.length > 0) await readBack(session, written.flat(), sequencing);
    for (const [nr, one] of open.entries()) finish(one, written[nr] ?? []);
  };

  /**
   * Both steps for fresh appends, in one way there and back, several in one transaction. Those that are
   * refused, or all where one is in the way, are left to be tried by themselves.
   */
  const together = async (
    session: Session,
    missing: readonly Waiting[],
    leaves: Map<string, number>,
  ): Promise<void> => {
    const seqs = new Map<string, number>();
    const sent: Append[] = [];
    for (const one of missing) sent.push(await number(session, one, seqs));
    const frame = (statement: string) => (sent.length > 1 ? [session.query(statement)] : []);
    const rows = sent.flatMap((append) => append.rows);
    const [writing, claimed] = session.atOnce(() => {
      const begun = frame('begin');
      const writes = sent.map((append) => writeRows(session, append, signer));
      const all = Promise.allSettled([Promise.all(writes), ...begun, ...frame('commit')]);
      return [all, sendClaim(session, rows)] as const;
    });
    claimed.catch(() => undefined);
    const [written, ...rest] = await writing;
    const failed = [written, ...rest].find((result) => result.status === 'rejected');
    if (failed?.status === 'rejected' && isBroken(failed.reason)) throw failed.reason;
    for (const [nr, one] of missing.entries()) {
      one.at =
        (failed === undefined && written?.status === 'fulfilled' && written.value[nr]?.at) || undefined;
      if (one.at === undefined) unsend(one);
    }
    await place(session, claimed, leaves);
  };

  /** Step two. False where there was nothing to do. */
  const place = async (session: Session, claimed: Claimed, leaves: Map<string, number>): Promise<boolean> => {
    const { placed, head } = await sequence(session, claimed, sequencing);
    if (head !== undefined) seen.signed(head);
    for (const [stream, seq, leaf] of placed) leaves.set(keyOf({ stream, seq }), leaf);
    return placed.length > 0;
  };

  const finish = (one: Waiting, entries: readonly Entry[]): void => {
    for (const entry of entries) {
      seen.acknowledged(entry);
      const nonce = one.leases.find(({ resource }) => resource === entry.stream)?.proof.nonce;
      if (nonce !== undefined) lastSeqs.set(nonce, entry.seq);
    }
    one.over = true;
    one.done.resolve({ entries: entries.slice(one.own), all: entries });
  };

  const fail = (one: Waiting, error: unknown): void => {
    // Rows that are committed and have no leaf get one from whoever opens the store next.
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
        // What was committed may be gone with a server: it is looked for anew.
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

  const append = (
    prepared: readonly PreparedEntry[],
    leases: readonly Lease[],
    vouched: number,
  ): Promise<Appended> => {
    if (lost !== undefined) return Promise.reject(lost);
    const done = Promise.withResolvers<Appended>();
    const fresh = { own: 0, behind: undefined, sent: undefined, at: undefined, over: false };
    queue.push({ id: randomUUID(), prepared, leases, vouched, done, ...fresh });
    if (!isPumping) void pump();
    return done.promise;
  };

  return {
    append,
    async giveLeaves(stream) {
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
      // Its key is announced first; what is left gets its leaves with that.
      if (!isDone) await append([], [], 0);
    },
  };
}
