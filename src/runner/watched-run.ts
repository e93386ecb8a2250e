import type { Runbook } from '../../machines/parts/runbook.ts';
import type { Entry, JournalReader, StreamName } from '../store/journal.ts';
import { isEnd, readRunEntry } from '../store/run-entries.ts';
import { type Folded, fold, foldOn } from './fold.ts';
import type { RunState } from './run.ts';
import { inputOf } from './run-log.ts';

/** A run that another process drives, as seen in its journal. */
export interface WatchedRun {
  state(): RunState;
  subscribe(listener: () => void): () => void;
  stop(): void;
  /**
   * Resolves when the run has ended or watching stopped; rejects if the journal can no longer be read, or
   * with `run.diverged` if another machine wrote it.
   */
  readonly over: Promise<'ended' | 'stopped'>;
}

/**
 * Watches a run without holding it, reading only new entries. Only the driving process knows the progress
 * within a step.
 */
export async function watchRun(
  journal: Pick<JournalReader, 'read' | 'follow'>,
  runbook: Runbook,
  { runId, instance }: Pick<RunState, 'runId' | 'instance'>,
): Promise<WatchedRun> {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  const entries: Entry[] = [];
  const groups = followRun(journal, runId, stop.signal);
  const first = await groups.next();
  let folded: Folded = fold(runbook, inputOf(first.value ?? []) ?? {}, []);
  let progress: Progress = { activity: undefined, paused: undefined };

  const take = (group: readonly Entry[]) => {
    folded = foldOn(runbook, folded, group);
    progress = group.reduce(progressAfter, progress);
    entries.push(...group);
  };
  take(first.value ?? []);
  const following = async (): Promise<'ended' | 'stopped'> => {
    for await (const group of groups) {
      take(group);
      for (const listener of listeners) listener();
    }
    return entries.some(isEnd) ? 'ended' : 'stopped';
  };
  const over = following();
  // `over` reports the failure to its users.
  over.catch(() => undefined);
  return {
    state: () => ({ runId, instance, snapshot: folded.snapshot, entries, ...progress }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => stop.abort(),
    over,
  };
}

type Progress = Pick<RunState, 'activity' | 'paused'>;

/** What is under way in a run, and what it waits for, by its record alone. */
export function progressOnRecord(entries: readonly Entry[]): Progress {
  return entries.reduce(progressAfter, { activity: undefined, paused: undefined });
}

function progressAfter(before: Progress, entry: Entry): Progress {
  const known = readRunEntry(entry);
  switch (known?.type) {
    case 'activity.begun': {
      const { verb, begunAt } = known.body;
      return { activity: { verb, since: begunAt ?? entry.at, progress: undefined }, paused: undefined };
    }
    case 'run.paused':
      return { activity: undefined, paused: known.body.failure };
    case 'event':
    case 'run.resumed':
    case 'run.detached':
    case 'run.closed':
    case 'run.abandoned':
      return { activity: undefined, paused: undefined };
    default:
      return before;
  }
}

/**
 * The entries of a run, without holding it: the existing ones, then each group as it becomes durable. Ends
 * after the run's last entry, or with the signal. Keeps no process alive.
 */
export async function* followRun(
  journal: Pick<JournalReader, 'read' | 'follow'>,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const stream: StreamName = `run/${runId}`;
  const there = await journal.read(stream);
  yield there;
  if (there.some(isEnd)) return;
  const next = (there.at(-1)?.index ?? -1) + 1;
  for await (const group of journal.follow(next, signal)) {
    const own = group.filter((entry) => entry.stream === stream);
    if (own.length > 0) yield own;
    if (own.some(isEnd)) return;
  }
}
