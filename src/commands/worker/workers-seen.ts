import { failureOf } from '../../base/errors.ts';
import { TooSlow, within } from '../../base/patience.ts';
import { show } from '../../base/text.ts';
import { openQueueReader } from '../../compose/queue-of.ts';
import { openJournalIfAny, type StoreContext, unheard } from '../../compose/store-of.ts';
import type { QueueDepth, WorkerRow } from '../../queue/queue.ts';
import type { Holder, JournalReader } from '../../store/journal.ts';
import { progressOfOpenRuns, type RunProgress } from '../../store/projections/runs.ts';
import type { QueueHolds, WorkersStatus } from '../../view/fleet/workers-schema.ts';
import { mayGoOn } from '../../workers/may-go-on.ts';

/** Milliseconds: a look does not wait for a queue that is slow or cannot be reached. */
const LIMIT_MS = 3_000;

/** The holders of at most this many runs are looked up: each is a query to the store. */
const MAX_RUNS = 200;

export type Seen<Value> = { readonly value: Value } | { readonly code: string; readonly why: string };

export interface LeftRuns {
  readonly count: number;
  /** Who holds a run, of the newest 200; a run that waits for a person has no holder. */
  readonly looked: readonly { readonly run: RunProgress; readonly holder: Holder | undefined }[];
}

/**
 * A team's workers, queue, and waiting runs; undefined where the queue is in the working process. Resolves
 * within about three seconds and never rejects: missing answers say why.
 */
export async function seeWorkers(context: StoreContext): Promise<WorkersStatus | undefined> {
  const queue = seeQueue(context);
  const left = seeLeftRuns(context);
  const asked = await queue;
  if (asked === undefined) return undefined;
  return statusOf(asked, await left, new Date());
}

/** The queue of a team's store, as `seeWorkers` asks it. */
export async function seeQueue(
  context: StoreContext,
): Promise<Seen<{ readonly workers: readonly WorkerRow[]; readonly depth: QueueDepth }> | undefined> {
  const opened = await seen(() => openQueueReader(context, { report: () => undefined }));
  if (!('value' in opened)) return opened;
  const { value: reader } = opened;
  if (reader === undefined) return undefined;
  try {
    return await seen(async () => ({ workers: await reader.workers(), depth: await reader.depth() }));
  } finally {
    void reader.stop(0).catch(() => undefined);
  }
}

/** The runs left to the workers of any store; none where there is no journal. */
export function seeLeftRuns(context: StoreContext): Promise<Seen<LeftRuns>> {
  return seen(async () => {
    const journal = await openJournalIfAny(unheard(context));
    try {
      return journal === undefined ? { count: 0, looked: [] } : await leftRunsIn(journal);
    } finally {
      await journal?.close();
    }
  });
}

/** Runs that may go on without a holder. */
export function unheld({ looked }: LeftRuns): readonly string[] {
  return looked.flatMap(({ run, holder }) => (holder === undefined && mayGoOn(run) ? [run.runId] : []));
}

/** The runs left to the workers in a journal, with the holders of the newest `max` of them. */
export async function leftRunsIn(
  journal: Pick<JournalReader, 'rows' | 'holder'>,
  max = MAX_RUNS,
): Promise<LeftRuns> {
  const left = (await progressOfOpenRuns(journal)).filter(({ isForWorkers }) => isForWorkers === true);
  const looked: LeftRuns['looked'][number][] = [];
  for (const run of left.slice(-max)) {
    // The process that left it to a person has let go of it.
    const isFree = run.isLeft && !mayGoOn(run);
    looked.push({ run, holder: isFree ? undefined : await journal.holder(`run/${run.runId}`) });
  }
  return { count: left.length, looked };
}

/** Puts together what was seen. Pure. */
export function statusOf(
  queue: NonNullable<Awaited<ReturnType<typeof seeQueue>>>,
  left: Seen<LeftRuns>,
  now: Date,
): WorkersStatus {
  const holds = 'value' in left ? holdsOf(left.value) : undefined;
  const items = ('value' in queue ? queue.value.workers : []).map(({ since, seen: heard, ...worker }) => {
    const key = keyOf(worker);
    const count = holds?.get(key) ?? 0;
    // A container that was started again has the name and the number of the one before: the newest counts.
    holds?.delete(key);
    const known = { ...worker, since: since.toISOString(), seen: heard.toISOString() };
    return holds === undefined ? known : { ...known, holds: count };
  });
  return {
    items,
    ...('value' in queue ? { queue: depthAt(queue.value.depth, now) } : {}),
    ...('value' in left ? { runs: { left: left.value.count, unheld: [...unheld(left.value)] } } : {}),
    troubles: [
      ...('why' in queue ? [{ of: 'queue' as const, ...queue }] : []),
      ...('why' in left ? [{ of: 'runs' as const, ...left }] : []),
    ],
  };
}

export function shownDepth({ oldest, ...counts }: QueueDepth): QueueHolds {
  return { ...counts, ...(oldest === undefined ? {} : { oldest: oldest.toISOString() }) };
}

function depthAt(depth: QueueDepth, now: Date): NonNullable<WorkersStatus['queue']> {
  const { oldest } = depth;
  if (oldest === undefined) return shownDepth(depth);
  // The two clocks may differ by a little.
  return { ...shownDepth(depth), oldestSeconds: Math.max(0, (now.getTime() - oldest.getTime()) / 1000) };
}

/** How many runs each process holds, by `keyOf`. */
export function holdsOf({ looked }: LeftRuns): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { holder } of looked) {
    if (holder === undefined) continue;
    const key = keyOf(holder);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** A process by its name in the queue or in a hold. */
export function keyOf({ host, pid }: Pick<WorkerRow, 'host' | 'pid'>): string {
  return `${show(host, 60)} ${pid}`;
}

async function seen<Value>(act: () => Promise<Value>): Promise<Seen<Value>> {
  try {
    return { value: await within(LIMIT_MS, act) };
  } catch (thrown) {
    if (thrown instanceof TooSlow) return { code: 'answer.late', why: thrown.message };
    const { code, shortMessage } = failureOf(thrown);
    return { code, why: show(shortMessage, 300) };
  }
}
