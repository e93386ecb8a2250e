import { type Entry, fieldsOf, type JournalReader, type Json } from '../journal.ts';
import { eachRow } from '../reading.ts';
import { type Awaits, isEnd, type PlanChild } from '../run-entries.ts';
import type { Projection } from './projection.ts';

/** As its journal shows it. */
export interface ChildRow extends PlanChild {
  readonly runId: string;
  readonly runbook: string;
  readonly startedAt: string;
  /** `done`: proven, or did what it was for; `failed`: stopped, abandoned, or proved nothing. */
  readonly result?: 'done' | 'failed' | undefined;
  /** Its service said so. */
  readonly simulated?: true | undefined;
  readonly endedAt?: string | undefined;
  /** The title of its newest state. */
  readonly where?: string | undefined;
  readonly cause?: string | undefined;
  /** No process has it: its process left it, or a worker has yet to take it. */
  readonly isLeft: boolean;
  /** Since it was left; undefined if it may go on. */
  readonly awaits?: Awaits | undefined;
}

const PREFIX = 'run/';

/** The key is the child's id, the group its plan's run, the order the time of its begin. */
export const planChildren: Projection = {
  name: 'plan-children',
  version: 2,
  keysOf: ({ stream, type }) =>
    stream.startsWith(PREFIX) && FOLDED.has(type) ? [stream.slice(PREFIX.length)] : [],
  fold: (row, entry, key) => {
    const before = row?.value as unknown as ChildRow | undefined;
    const after = before === undefined ? begun(entry, key) : next(before, entry);
    if (after === undefined) return row;
    return { group: after.run, sort: after.startedAt, value: after as unknown as Json };
  },
};

const FOLDED: ReadonlySet<string> = new Set([
  ...['run.started', 'run.resumed', 'run.detached', 'run.closed', 'run.abandoned', 'event'],
]);

function begun({ type, seq, at, body }: Entry, runId: string): ChildRow | undefined {
  const { plan, runbook, workers } = fieldsOf(body);
  if (type !== 'run.started' || seq !== 1 || typeof plan !== 'object' || plan === null) return undefined;
  const isLeft = workers !== undefined;
  return { ...(plan as PlanChild), runId, runbook: String(runbook), startedAt: at, isLeft };
}

function next(before: ChildRow, entry: Entry): ChildRow {
  const { outcome, proven, title, awaits, failure, simulated } = fieldsOf(entry.body);
  const { awaits: _, ...taken } = { ...before, isLeft: false };
  if (entry.type === 'event') return { ...taken, where: typeof title === 'string' ? title : undefined };
  if (entry.type === 'run.detached')
    return { ...taken, isLeft: true, ...(awaits === undefined ? {} : { awaits: awaits as Awaits }) };
  if (entry.type === 'run.resumed') return taken;
  if (!isEnd(entry) || before.result !== undefined) return before;
  // A person's pass of a step counts, with their reason; a runbook without proof shows nothing.
  const isPassed = before.runbook === 'plan-step' && outcome === 'done-unproven';
  const isDone = entry.type === 'run.closed' && (outcome === 'done' || proven === true || isPassed);
  const why = isDone ? undefined : fieldsOf(failure)['shortMessage'];
  return {
    ...before,
    ...(typeof why === 'string' ? { cause: why } : {}),
    result: isDone ? 'done' : 'failed',
    ...(simulated === true ? { simulated } : {}),
    endedAt: entry.at,
    where: typeof title === 'string' ? title : before.where,
  };
}

/** In the order in which they began. */
export async function childrenOf(
  journal: Pick<JournalReader, 'rows'>,
  planRun: string,
): Promise<readonly ChildRow[]> {
  const rows = await journal.rows(planChildren.name, { group: planRun });
  return rows.map(({ value }) => value as unknown as ChildRow);
}

/** As `childrenOf`, one by one. */
export async function* eachChild(
  journal: Pick<JournalReader, 'rows'>,
  planRun: string,
): AsyncGenerator<ChildRow> {
  for await (const { value } of eachRow(journal, planChildren.name, { group: planRun }))
    yield value as unknown as ChildRow;
}

/** Undefined if it never began. */
export async function childOf(
  journal: Pick<JournalReader, 'rows'>,
  runId: string,
): Promise<ChildRow | undefined> {
  const [row] = await journal.rows(planChildren.name, { keyPrefix: runId, limit: 1 });
  return row?.key === runId ? (row.value as unknown as ChildRow) : undefined;
}
