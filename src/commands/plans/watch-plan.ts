import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Entry, Holder, JournalReader } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { planView } from '../../view/plan/build-plan-view.ts';
import type { PlanPort } from '../../view/plan/plan-view.ts';
import type { RunEnd } from '../../view/run-port.ts';
import { driverOf } from '../../view/run-record.ts';
import { FollowedRecord } from '../serve/followed-record.ts';
import { planFoldOnRecord } from './plan-on-record.ts';
import { newestOf } from './plan-port.ts';

/** The pause between two looks at whether the record has grown. Milliseconds. */
const LOOK_MS = 200;
/** Milliseconds until a read without news: holder and lateness change. */
const READ_MS = 2_000;

/**
 * The run of a plan that another process conducts, for the screen of a plan: by its record, which it follows
 * until the plan is over or left. It takes no hold and writes nothing; every answer and decision is refused
 * with `run.watched`. The journal stays open. Undefined where `planFoldOnRecord` is.
 */
export async function watchPlan(
  journal: JournalReader,
  summary: Pick<RunSummary, 'runId' | 'runbook' | 'version'>,
): Promise<PlanPort | undefined> {
  const { runId } = summary;
  const stop = new AbortController();
  const { record, over } = await FollowedRecord.follow(journal, {
    signal: stop.signal,
    onNews: () => undefined,
  });
  let entries: readonly Entry[] = [];
  let holder: Holder | undefined;
  let read = { size: 0, atMs: 0 };
  const readAgain = async () => {
    read = { size: record.size, atMs: performance.now() };
    entries = await record.read(`run/${runId}`);
    holder = await record.holder(`run/${runId}`);
    return planFoldOnRecord(record, summary, record.now().getTime());
  };
  const first = await readAgain().catch((thrown: unknown) => {
    stop.abort();
    throw thrown;
  });
  if (first === undefined) {
    stop.abort();
    return undefined;
  }
  let fold = first;
  const listeners = new Set<() => void>();
  const looking = async (): Promise<RunEnd> => {
    while (fold.outcome === undefined && !stop.signal.aborted) {
      await pause(LOOK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      const isNews = record.size !== read.size || performance.now() - read.atMs >= READ_MS;
      if (!isNews || stop.signal.aborted) continue;
      fold = (await readAgain()) ?? fold;
      for (const listener of listeners) listener();
    }
    return { how: fold.outcome === undefined ? 'detached' : 'ended', exitCode: EXIT.closed };
  };
  const ended = Promise.race([looking(), failureOf(over)]).finally(() => stop.abort());
  // The command that shows the plan reports it.
  ended.catch(() => undefined);

  const isOver = () => fold.outcome !== undefined;
  const driver = () => (isOver() ? 'it is over' : driverOf(entries, holder, runId));
  const refuse = async () => {
    throw new LifeboatError('run.watched', `this command only watches the run: ${driver()}`, {
      hints: [`to take it over: lifeboat resume ${runId}`],
      exitCode: EXIT.usage,
    });
  };
  return {
    view: () => ({
      ...planView({ ...fold, nowMs: record.now().getTime() }),
      watched: { driver: driver(), isFree: holder === undefined && !isOver() },
    }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answerPlan: refuse,
    answer: refuse,
    decide: refuse,
    wake: () => undefined,
    newest: (id) => newestOf(journal, id),
    leave: async () => {
      stop.abort();
      await ended.catch(() => undefined);
    },
    ended,
  };
}

/** Rejects when following fails; stays pending otherwise. */
async function failureOf(following: Promise<void>): Promise<never> {
  await following;
  return new Promise(() => undefined);
}
