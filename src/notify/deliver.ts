import { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { NotifyConfig } from '../config/loaded.ts';
import type { NotifyEvent } from '../config/schema.ts';
import { type Hold, type Journal, OUTBOX_STREAM } from '../store/journal.ts';
import type { KnownTarget, Posted, Tries } from '../store/projections/outbox.ts';
import { begunEntry, findPosted, readTargets, triedEntry } from '../store/projections/outbox.ts';
import { bodyOf, type Notice, notificationOf } from './notice.ts';
import { type Sent, send } from './send.ts';

export interface Outbox {
  readonly journal: Pick<Journal, 'append' | 'clock' | 'hold' | 'rows'>;
  readonly targets: readonly NotifyConfig[];
  /** The notices to deliver now. `all`: including those that were given up. */
  readonly notices: (all: boolean) => Promise<readonly Notice[]>;
}

export interface Delivery extends Sent {
  readonly notice: Notice;
  readonly target: string;
}

/**
 * Delivers what is due, each notice at most once at each target, and records every attempt. If another
 * process is delivering, returns nothing. A target that fails gets nothing more in this round. If the process
 * dies after sending a notice and before recording it, the next one sends it again. `all` also tries notices
 * that have to wait or were given up. Rejects as the journal does.
 */
export async function deliver(
  outbox: Outbox,
  signal: AbortSignal,
  { all = false }: { readonly all?: boolean } = {},
): Promise<readonly Delivery[]> {
  if ((await dueIn(outbox, all)).length === 0) return [];
  const hold = await holdOf(outbox.journal);
  if (hold === undefined) return [];
  try {
    // Read again: the previous holder may have just delivered some.
    const due = await dueIn(outbox, all);
    const record = recorder(outbox, hold);
    const stop = AbortSignal.any([signal, hold.lost]);
    const rounds = outbox.targets.map((target) => deliverTo(target, due, record, stop));
    return (await Promise.all(rounds)).flat();
  } finally {
    await hold.release();
  }
}

/** Records since when each target gets notifications, unless another process holds the outbox. */
export async function beginTargets({ journal, targets }: Outbox): Promise<void> {
  const isMissing = async () => {
    const known = new Set((await readTargets(journal)).map(({ name }) => name));
    return targets.filter(({ name }) => !known.has(name));
  };
  if ((await isMissing()).length === 0) return;
  const hold = await holdOf(journal);
  if (hold === undefined) return;
  try {
    const missing = await isMissing();
    await journal.append(
      missing.map(({ name }) => begunEntry(name)),
      [hold],
    );
  } finally {
    await hold.release();
  }
}

async function holdOf(journal: Pick<Journal, 'hold'>): Promise<Hold | undefined> {
  try {
    return await journal.hold(OUTBOX_STREAM);
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.held') return undefined;
    throw thrown;
  }
}

async function dueIn({ journal, targets, notices }: Outbox, all: boolean): Promise<readonly Wanted[]> {
  const found = await notices(all);
  if (found.length === 0) return [];
  const wanting = await wantingOf({ journal, targets });
  const now = (await journal.clock())().getTime();
  const wanted = found.map(async (notice) => wantedBy(notice, wanting, await findPosted(journal, notice.id)));
  return (await Promise.all(wanted)).flat().filter(({ dueMs }) => all || dueMs <= now);
}

async function wantingOf({
  journal,
  targets,
}: Pick<Outbox, 'journal' | 'targets'>): Promise<readonly Wanting[]> {
  const known = new Map((await readTargets(journal)).map((target) => [target.name, target]));
  return targets.flatMap(({ name, on }): readonly Wanting[] => {
    const its = known.get(name);
    return its === undefined ? [] : [{ name, on, known: its }];
  });
}

type Recorder = (delivery: Delivery) => Promise<void>;

/** Records attempts one after another: the last one of a notice closes it. */
function recorder({ journal, targets }: Outbox, hold: Hold): Recorder {
  let turn: Promise<unknown> = Promise.resolve();
  return ({ notice, target, outcome, status, why, retryAfter }) => {
    const next = turn.then(async () => {
      const posted = await findPosted(journal, notice.id);
      const wanted = wantedBy(notice, await wantingOf({ journal, targets }), posted);
      const closes = closesWith(wanted, { target, outcome });
      const attempt = { id: notice.id, target, outcome, status, why, retryAfter, closes };
      await journal.append([triedEntry(attempt)], [hold]);
    });
    turn = next.catch(() => undefined);
    return next;
  };
}

async function deliverTo(
  target: NotifyConfig,
  due: readonly Wanted[],
  record: Recorder,
  signal: AbortSignal,
): Promise<readonly Delivery[]> {
  const done: Delivery[] = [];
  for (const { notice } of due.filter(({ target: name }) => name === target.name)) {
    if (signal.aborted) break;
    const sent = await send(target, bodyOf(notificationOf(notice)), signal);
    const delivery = { ...sent, notice, target: target.name };
    await record(delivery);
    done.push(delivery);
    // A target that is down now would also fail for the next notice.
    if (delivery.outcome === 'failed') break;
  }
  return done;
}

/** The pauses after failed attempts, in ms: the last attempt is more than three hours after the first. */
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const PAUSES: readonly number[] = [
  2 * SECOND,
  10 * SECOND,
  60 * SECOND,
  300 * SECOND,
  900 * SECOND,
  HOUR,
  HOUR,
  HOUR,
];

/** How often a notification is tried at one target. */
export const MAX_TRIES = PAUSES.length + 1;

export interface Wanting {
  readonly name: string;
  /** Undefined: every event. */
  readonly on: readonly NotifyEvent[] | undefined;
  /** From when on it gets notifications. */
  readonly known: Pick<KnownTarget, 'index' | 'at'>;
}

/** A notice that a target wants and has not received. */
interface Wanted {
  readonly notice: Notice;
  readonly target: string;
  /** When it may be tried. Milliseconds since 1970. */
  readonly dueMs: number;
  readonly count: number;
}

/** The targets that want this notice and lack it: configured before it arose, or while it stands. Pure. */
export function wantedBy(
  notice: Notice,
  targets: readonly Wanting[],
  posted: Posted | undefined,
): readonly Wanted[] {
  return targets.flatMap((target): readonly Wanted[] => {
    const tries = posted?.tries[target.name];
    if (!isFor(notice, target, tries)) return [];
    if (tries?.outcome === 'delivered') return [];
    return [{ notice, target: target.name, dueMs: nextTry(tries), count: tries?.count ?? 0 }];
  });
}

/** Set if this attempt closes the notice: each target has received it or has failed for good. Pure. */
export function closesWith(
  wanted: readonly Wanted[],
  { target, outcome }: { readonly target: string; readonly outcome: Tries['outcome'] },
): Posted['closes'] {
  const left = wanted.filter((one) => one.target !== target || outcome === 'failed');
  if (left.length === 0) return 'delivered';
  const isOver = (one: Wanted) => one.count + (one.target === target ? 1 : 0) >= MAX_TRIES;
  return left.every(isOver) ? 'given-up' : undefined;
}

/** A target does not get notices that arose before it was configured. */
function isFor(
  { event, index, since, stands = false }: Notice,
  { on, known }: Wanting,
  tries: Tries | undefined,
): boolean {
  if (on !== undefined && !on.includes(event)) return false;
  if (index !== undefined) return index > known.index;
  // A notice stays due for a target that it was once tried at, even if it no longer stands.
  return stands || tries !== undefined || msOf(since) > msOf(known.at);
}

/** A receiver may ask for a longer pause, up to a day: a notice not delivered by then is old. */
const LONGEST_ASKED = 24 * HOUR;

function nextTry(tries: Tries | undefined): number {
  if (tries === undefined) return 0;
  const asked = Math.min((tries.retryAfter ?? 0) * SECOND, LONGEST_ASKED);
  return msOf(tries.at) + Math.max(PAUSES[tries.count - 1] ?? Number.POSITIVE_INFINITY, asked);
}
