import { LifeboatError } from '../../base/errors.ts';
import {
  type Entry,
  type Hold,
  type Journal,
  type JournalReader,
  LOG_STREAM,
  type ProjectedRow,
  type RowQuery,
} from '../journal.ts';
import type { Signer } from '../log/signer.ts';
import { checkStreamName, type PreparedEntry, prepareEntry, storableName } from '../new-entry.ts';
import { createFold, projectionOf, selectRows } from '../projected.ts';
import type { Projection } from '../projections/projection.ts';
import { createFollowers, createWakes, inPages } from '../reading.ts';
import { createSecretGuard } from '../secret-guard.ts';
import { type Address, named, parseAddress } from './address.ts';
import { createLeases, holderOf, type Lease, type Leases, LONGEST_TTL } from './leases.ts';
import { closedStore, createLink, type Link, type LinkOptions, orClosed } from './link.ts';
import { type Ask, createLog, createSeen } from './log.ts';
import { databaseClock, headOf, readLeaves, readStream, streamHeads } from './queries.ts';
import { catchUp, changedRows, forgetRows, type Known, keepUp, selectKept, sizeOf } from './rows.ts';
import { assertVersion } from './schema.ts';
import { isBroken, persist, refused } from './trouble.ts';
import { createWriter } from './writer.ts';

export interface ReaderOptions {
  /** `postgres://…` (address.ts), without a password. */
  readonly address: string;
  /** libpq's variables. */
  readonly env: NodeJS.ProcessEnv;
  readonly projections: readonly Projection[];
  /** Whose vouching `log.vouched` reports (16 hex digits). */
  readonly installation?: string;
  /** How long an unreachable store is retried. Milliseconds; default: 20 s. */
  readonly patience?: number;
  /** Called once, while opening, if the store cannot be reached; `ms`: how long it will be retried. */
  readonly unreached?: (why: LifeboatError, ms: number) => void;
  /** For a statement, in milliseconds; default: 15 s, longer than any takes on a healthy database. */
  readonly statement?: number;
}

export interface StoreOptions extends Omit<ReaderOptions, 'installation'> {
  /** For the entries' `by`. Cut to 200 characters. */
  readonly by: string;
  /** For this installation. */
  readonly signer: Signer;
  /** Of a hold without renewal, by the database's clock. Milliseconds; default: 15 s. */
  readonly ttl?: number;
  /** Rebuild the projections' rows from the entries. */
  readonly rebuild?: boolean;
}

const PATIENCE = 20_000;
const STATEMENT = 15_000;
/** A follower's interval in milliseconds: a notification can be lost with its connection. */
const LOOK_EVERY = 1_000;
const PAGE = 1_000;

/**
 * Opens a team's store, on PostgreSQL 15 or newer, for writing; `initPostgresStore` creates one. Acknowledged
 * entries are on the disk of the primary and of its synchronous standbys (`synchronous_standby_names`).
 * Entries that a dead process left without a leaf get one here. Rejects with `config.store`, `journal.none`,
 * `journal.version`, `journal.refused` (rights, password, certificate), `journal.unreachable` or
 * `journal.damaged`.
 */
export async function openPostgresStore(options: StoreOptions): Promise<Journal> {
  const { projections, signer, patience = PATIENCE, ttl = LONGEST_TTL } = options;
  const by = storableName(options.by).replaceAll('\0', '\ufffd');
  const seen = createSeen();
  const base = connectionsOf(options, Math.min(5_000, Math.max(500, ttl / 3)));
  const link = createLink({ ...base, name: 'lifeboat', greet: seen.check });
  const reading = openReading({ ...options, installation: signer.installation }, base);
  const leasing = createLink({ ...base, name: 'lifeboat leases' });
  const leases = createLeases({ link: leasing, by, ttl });
  const writer = createWriter({ link, by, signer, projections, seen, patience, whyLost: leases.whyLost });
  const secrets = createSecretGuard();
  const wakes = createWakes();
  let vouched = 0;
  let isClosed = false;

  const close = async () => {
    isClosed = true;
    await leases.close();
    await Promise.all([leasing.close(), link.close(), reading.close()]);
  };
  const ready = async () => {
    await reading.meet();
    // A store altered with a database tool still opens for reading; the first append reports the damage.
    await writer.assignLeafIndexes().catch(unlessDamaged);
    if (options.rebuild === true)
      await persist(() => link.use((session) => forgetRows(session, projections)), patience);
    for (const projection of projections) await persist(() => keepUp(link, projection, signer), patience);
  };
  await orClosed(reading.inWords(ready), close);

  return {
    ...reading.reader,
    stampedBy: 'database',
    async append(entries, holds, woken = [], under = []) {
      if (isClosed) throw closedStore();
      const prepared = entries.map(prepareEntry);
      for (const { stream, type, body } of prepared)
        secrets.check(`${stream} ${type} ${by} ${body}`, `entry ${type} of ${stream}`);
      if (prepared.length === 0) return [];
      const written = await reading.inWords(async () =>
        writer.append(prepared, await provenBy(prepared, { holds, under }, leases), {
          vouched,
          wakes: woken,
        }),
      );
      reading.tell(written.all);
      wakes.tell(woken);
      return written.entries;
    },
    onWake: wakes.onWake,
    async hold(stream) {
      if (isClosed) throw closedStore();
      checkStreamName(stream);
      return await reading.inWords(async () => {
        const lease = await leases.take(stream);
        try {
          // Rows that a dead holder wrote without a leaf belong to the stream.
          await writer.assignLeafIndexes(stream).catch(unlessDamaged);
          return lease;
        } catch (error) {
          await lease.release();
          throw error;
        }
      });
    },
    rows: async (name, query) => {
      const projection = projectionOf(projections, name);
      return await reading.inWords(async () => {
        for (;;) {
          const kept = await reading.select(projection, query);
          if (typeof kept !== 'string') return kept;
          if (kept !== 'behind') return selectRows(await reading.fold(projection), query);
          await persist(() => catchUp(link, projection, signer), patience);
        }
      });
    },
    guard: secrets.add,
    log: {
      ...reading.reader.log,
      vouch(size) {
        vouched = Math.max(vouched, size);
      },
    },
    close,
  };
}

/** Read-only. If another version keeps its projections, their rows are folded from all entries. */
export async function openPostgresForReading(options: ReaderOptions): Promise<JournalReader> {
  const { projections } = options;
  const reading = openReading(options, connectionsOf(options, options.statement ?? STATEMENT));
  const look = reading.inWords(reading.meet);
  await orClosed(look, reading.close);
  return {
    ...reading.reader,
    rows: async (name, query) => {
      const projection = projectionOf(projections, name);
      return await reading.inWords(async () => {
        const kept = await reading.select(projection, query);
        return typeof kept === 'string' ? selectRows(await reading.fold(projection), query) : kept;
      });
    },
    log: { ...reading.reader.log, vouch: () => undefined },
    close: reading.close,
  };
}

type Connections = Omit<LinkOptions, 'name' | 'greet'>;

function connectionsOf(
  { address, env, statement = STATEMENT }: ReaderOptions,
  idleTimeout: number,
): Connections {
  return {
    address: parseAddress(address, env),
    env,
    statementTimeout: statement,
    idleTimeout,
    readOnly: false,
  };
}

/** Shared by readers and writers. Its own connections: a read waits for no append. */
function openReading(
  { installation, patience = PATIENCE, unreached, projections }: ReaderOptions,
  base: Connections,
) {
  const { address } = base;
  const link = createLink({ ...base, name: 'lifeboat reader', readOnly: true });
  const listener = createLink({ ...base, name: 'lifeboat listener', readOnly: true });
  const ask: Ask = (look) => persist(() => link.use(look), patience);
  const heard = (error: unknown) => error instanceof LifeboatError && unreached?.(error, patience);
  const look = (from: number, most: number) => ask((session) => readLeaves(session, from, most));
  const followers = createFollowers({
    look: (from, most) => look(from, most).catch(nothingWhileBroken),
    every: LOOK_EVERY,
    listen: listenOn(listener),
  });
  const inWords = <T>(work: () => Promise<T>): Promise<T> => inOurWords(address, work);
  const answer: Ask = (look) => inWords(() => ask(look));
  // Rows are asked for in parts, and folding them reads every entry.
  const folds = new Map<Projection, { readonly size: number; readonly rows: readonly ProjectedRow[] }>();
  const fold = async (projection: Projection): Promise<readonly ProjectedRow[]> => {
    const size = await ask(sizeOf);
    const known = folds.get(projection);
    if (known?.size === size) return known.rows;
    const folded = createFold(projection);
    const page = (from: number) => ask((session) => readLeaves(session, from, PAGE));
    for await (const entry of inPages(0, PAGE, page, ({ index }) => index + 1)) folded.take(entry);
    const rows = folded.rows();
    folds.set(projection, { size, rows });
    return rows;
  };
  const known: Known = new Map();
  const changed = () => inWords(() => changedRows(projections, ask, fold));
  return {
    ask,
    fold,
    select: (projection: Projection, query?: RowQuery) =>
      ask((session) => selectKept(session, projection, known, query)),
    meet: () => persist(() => link.use(assertVersion), patience, heard),
    inWords,
    tell: followers.tell,
    async close() {
      followers.end();
      await Promise.all([link.close(), listener.close()]);
    },
    reader: {
      clock: () => answer(databaseClock),
      read: (stream, fromSeq = 1) => answer((session) => readStream(session, stream, fromSeq)),
      head: (stream) => answer((session) => headOf(session, stream)),
      streams: (prefix = '') => answer((session) => streamHeads(session, prefix)),
      follow: followers.follow,
      holder: (stream) => answer((session) => holderOf(session, stream)),
      log: createLog(answer, installation, changed),
    } satisfies Omit<JournalReader, 'log' | 'rows' | 'close'> & { readonly log: object },
  };
}

/** On a connection of its own, and again after it breaks. */
function listenOn(listener: Link): (wake: () => void) => void {
  let isListening = false;
  listener.onBreak(() => {
    isListening = false;
  });
  return async (wake) => {
    if (isListening) return;
    isListening = true;
    try {
      await listener.use(async (session) => {
        session.onNotice(wake);
        await session.query('listen lifeboat');
      });
      // For entries that were committed before it listened.
      wake();
    } catch {
      isListening = false;
    }
  };
}

function nothingWhileBroken(error: unknown): readonly Entry[] {
  if (isBroken(error)) return [];
  throw error;
}

/** Only our errors leave the store. */
async function inOurWords<T>({ user, database, servers }: Address, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LifeboatError || error instanceof RangeError) throw error;
    throw refused(error, { user, database, server: servers.map(named).join(', ') });
  }
}

/** One for each stream that an append writes. */
async function provenBy(
  prepared: readonly PreparedEntry[],
  { holds, under }: { readonly holds: readonly Hold[]; readonly under: readonly Hold[] },
  leases: Leases,
): Promise<readonly Lease[]> {
  const written = prepared.map(({ stream }) => stream).filter((stream) => stream !== LOG_STREAM);
  const proven: Lease[] = [];
  for (const stream of new Set([...written, ...under.map(({ resource }) => resource)])) {
    const lease = [...holds, ...under].map(leases.find).find((one) => one?.resource === stream);
    if (lease === undefined)
      throw new LifeboatError('journal.unheld', `${stream} is written without being held`, {
        hints: ['nothing was written; this is a bug in lifeboat: please report it'],
      });
    if (lease.lasts() === 0) throw await leases.whyLost(lease);
    proven.push(lease);
  }
  return proven;
}

function unlessDamaged(error: unknown): void {
  if (!(error instanceof LifeboatError && error.code === 'journal.damaged')) throw error;
}
