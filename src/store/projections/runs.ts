import { type Entry, fieldsOf, type JournalReader, type Json, type ProjectedRow } from '../journal.ts';
import { type Awaits, isEnd } from '../run-entries.ts';
import type { FoldedRow, Projection } from './projection.ts';
import type { RunSummary } from './run-summary.ts';

/** For notifications. */
export interface RunProgress extends Omit<RunSummary, 'where' | 'result'> {
  /** Of its first entry. */
  readonly begunIndex: number;
  /** From the config when it began. */
  readonly rtoSeconds?: number;
  /** If stated. */
  readonly incidentAt?: string;
  /** Undefined before the first event. */
  readonly reached?: Reached;
  readonly title?: string;
  /** The title of its end. */
  readonly outcome?: string;
  readonly isPaused: boolean;
  /** No process has it: its process left it, or a worker has yet to take it. */
  readonly isLeft: boolean;
  /** Since it was left; missing if it may go on. */
  readonly awaits?: Awaits;
  readonly isForWorkers?: true;
  /** The run of the plan whose step it is. */
  readonly planRun?: string;
  /** Those that it began with, if recorded. */
  readonly services?: readonly Named[];
}

/** As named in a config. */
export interface Named {
  readonly instance: string;
  readonly url: string;
}

/** From the body of its first entry. */
export function servicesIn(body: Json | undefined): readonly Named[] {
  const { services } = fieldsOf(body);
  return (Array.isArray(services) ? services : []).flatMap((one): Named[] => {
    const { instance, url } = fieldsOf(one);
    return typeof instance === 'string' && typeof url === 'string' ? [{ instance, url }] : [];
  });
}

/** `state`, and the entry that led to it or paused it. */
interface Reached {
  readonly state: string;
  readonly seq: number;
  readonly index: number;
  readonly at: string;
}

/** With the facts that folding the next entry needs. */
interface Folded extends Omit<RunProgress, 'title'> {
  /** Of the newest state. */
  readonly title?: string;
  /** Before its end. */
  readonly isStopped?: boolean | undefined;
  /** It did all that it was for, which proves nothing: one change of a command. */
  readonly isDone?: boolean | undefined;
}

const PREFIX = 'run/';

/** The key is the run's id, the group its status, the order the time of its first entry. */
export const runs: Projection = {
  name: 'runs',
  version: 6,
  vouched: ['open'],
  keysOf: ({ stream }) => (stream.startsWith(PREFIX) ? [stream.slice(PREFIX.length)] : []),
  fold: (row, entry, key) => {
    const before = row?.value as unknown as Folded | undefined;
    const after = before === undefined ? begun(entry, key) : next(before, entry);
    return after === undefined ? row : rowOf(after);
  },
};

export function summariesOf(rows: readonly ProjectedRow[]): RunSummary[] {
  return rows.map(({ value }) => {
    const {
      title,
      outcome,
      isPaused,
      isLeft,
      awaits,
      isForWorkers,
      planRun,
      services,
      isStopped,
      isDone,
      begunIndex,
      rtoSeconds,
      incidentAt,
      reached,
      ...summary
    } = value as unknown as Folded;
    const result = resultOf(summary, { isStopped, isDone });
    return {
      ...summary,
      ...(result === undefined ? {} : { result }),
      where: outcome ?? whereOf(title, summary.status === 'open' && isPaused),
    };
  });
}

/** Oldest first. */
export async function openRuns(journal: Pick<JournalReader, 'rows'>): Promise<RunSummary[]> {
  return summariesOf(await journal.rows(runs.name, { group: 'open' }));
}

/** Oldest first. */
export async function progressOfOpenRuns(
  journal: Pick<JournalReader, 'rows'>,
): Promise<readonly RunProgress[]> {
  const rows = await journal.rows(runs.name, { group: 'open' });
  return rows.map(({ value }) => value as unknown as RunProgress);
}

/** Open or over; undefined if it never began. */
export async function progressOfRun(
  journal: Pick<JournalReader, 'rows'>,
  runId: string,
): Promise<RunProgress | undefined> {
  const [row] = await journal.rows(runs.name, { keyPrefix: runId, limit: 1 });
  return row?.key === runId ? (row.value as unknown as RunProgress) : undefined;
}

function resultOf(
  { status, proven }: Pick<RunSummary, 'status' | 'proven'>,
  { isStopped, isDone }: Pick<Folded, 'isStopped' | 'isDone'>,
): RunSummary['result'] {
  if (status === 'open') return undefined;
  if (status === 'abandoned') return 'abandoned';
  if (isStopped === true) return 'stopped';
  if (proven) return 'proven';
  return isDone === true ? 'done' : 'not proven';
}

function rowOf(folded: Folded): FoldedRow {
  return { group: folded.status, sort: folded.startedAt, value: folded as unknown as Json };
}

function begun({ type, at, seq, index, body }: Entry, runId: string): Folded | undefined {
  if (type !== 'run.started' || seq !== 1) return undefined;
  const started = fieldsOf(body) as Pick<Folded, 'runbook' | 'version' | 'instance' | 'target' | 'mode'>;
  const { runbook, version, instance, target, mode } = started;
  const { operator, workers, plan } = fieldsOf(body);
  const { run: planRun } = fieldsOf(plan);
  const { rtoSeconds } = fieldsOf(fieldsOf(body)['objectives']);
  const { incidentAt } = fieldsOf(fieldsOf(body)['input']);
  const services = servicesIn(body);
  return {
    runId,
    runbook,
    version,
    instance,
    ...(target === undefined ? {} : { target }),
    mode,
    ...(typeof operator === 'string' && operator !== '' ? { by: operator } : {}),
    startedAt: at,
    lastAt: at,
    status: 'open',
    proven: false,
    isPaused: false,
    isLeft: workers !== undefined,
    ...(workers === undefined ? {} : { isForWorkers: true }),
    ...(typeof planRun === 'string' ? { planRun } : {}),
    ...(services.length === 0 ? {} : { services }),
    begunIndex: index,
    ...(typeof rtoSeconds === 'number' ? { rtoSeconds } : {}),
    ...(typeof incidentAt === 'string' ? { incidentAt } : {}),
  };
}

function next(before: Folded, entry: Entry): Folded {
  const { awaits: wasAwaiting, ...rest } = before;
  const isLeft = entry.type === 'run.detached' || (before.isLeft && !MOVES.has(entry.type));
  const awaits = entry.type === 'run.detached' ? fieldsOf(entry.body)['awaits'] : wasAwaiting;
  const after: Folded = {
    ...rest,
    lastAt: entry.at,
    isPaused: pauses(entry) ?? before.isPaused,
    isLeft,
    ...(isLeft && awaits !== undefined ? { awaits: awaits as Awaits } : {}),
  };
  const { title, proven, outcome } = fieldsOf(entry.body) as {
    readonly title?: string;
    readonly proven?: boolean;
    readonly outcome?: string;
  };
  if (entry.type === 'event') {
    const { title: _, ...reachedSo } = after;
    const reached = reachedBy(entry, String(fieldsOf(entry.body)['to']));
    return { ...reachedSo, reached, ...(title === undefined ? {} : { title }) };
  }
  if (entry.type === 'run.paused')
    return { ...after, reached: reachedBy(entry, before.reached?.state ?? '') };
  // The first end counts: a run wrote nothing after it.
  if (!isEnd(entry) || before.status !== 'open') return after;
  if (entry.type === 'run.abandoned') return { ...after, status: 'abandoned' };
  return {
    ...after,
    status: 'closed',
    proven: proven ?? false,
    ...(outcome === 'stopped' ? { isStopped: true } : {}),
    ...(outcome === 'done' && proven !== true ? { isDone: true } : {}),
    ...(title === undefined ? {} : { outcome: title }),
  };
}

function reachedBy({ seq, index, at }: Entry, state: string): Reached {
  return { state, seq, index, at };
}

/** Pauses a run for credentials (true), moves or resumes it (false), or neither. */
function pauses({ type }: Entry): boolean | undefined {
  if (type === 'run.paused') return true;
  return MOVES.has(type) ? false : undefined;
}

const MOVES: ReadonlySet<string> = new Set(['event', 'answer', 'activity.begun', 'run.resumed']);

function whereOf(title: string | undefined, isWaiting: boolean): string {
  if (!isWaiting) return title ?? 'just begun';
  return title === undefined ? 'waits for credentials' : `waits for credentials: ${title}`;
}
