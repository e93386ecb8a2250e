import { hostname } from 'node:os';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import { openQueue } from '../../compose/queue-of.ts';
import { lackOfConfig } from '../../compose/shared-place.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { ScheduleConfig } from '../../config/schedules.ts';
import type { Due, Schedule } from '../../queue/queue.ts';
import { progressOfOpenRuns, progressOfRun } from '../../store/projections/runs.ts';
import { isUnwritable, Worker } from '../../workers/worker.ts';
import { assertApproversConfigured } from '../approvals/required.ts';
import { tooManyRights } from '../doctor/store-rights.ts';
import { driveLeft } from './drive-left.ts';
import { hearOthers } from './hear-others.ts';
import { withinLimits } from './limited.ts';
import { PlanRecords } from './plan-records.ts';
import { refusalOf } from './refusal.ts';
import { RunNews } from './run-news.ts';
import { runSchedule } from './run-schedule.ts';
import { beginsNow, hasRun, plannedSchedules, ScheduleRecord } from './schedules.ts';

interface WorkerFlags {
  readonly label?: readonly string[];
  readonly concurrency?: string;
}

/** Milliseconds between searches for lost wake-ups and processes; as long as a lease. */
const SWEEP_MS = 15_000;
/** Milliseconds for calls under way after a request to stop. */
const GRACE_MS = 25_000;
/** The same with what follows from their answers. */
const DRAIN_MS = 30_000;

/**
 * `lifeboat worker`: takes runs left to the workers, each until it is over or waits for a person. SIGTERM
 * drains: takes nothing new and leaves every run, resumable, for another worker; exit 0. Rejects when a
 * broken store takes no more entries; its holds end with their leases.
 */
export const worker: Action<WorkerFlags> = async (
  context,
  _args,
  { label = [], concurrency: given = '8' },
) => {
  const concurrency = wholeNumber(given, '--concurrency', 1);
  const config = await loadConfig(context.env, context.configPath);
  assertApproversConfigured(config);
  const workspace = await openWorkspace(context, workspaceFor(config)).catch(orLater(config));
  const { journal } = workspace;
  const say = (text: string) =>
    context.stderr.write(`${formatTime(new Date().toISOString())}  ${show(text, 300)}\n`);
  const setting = { context, config, workspace, leaveGraceMs: GRACE_MS };
  const plans = new PlanRecords(journal);
  try {
    // That of the entries, which a wrong clock of this machine must not be compared with.
    const clock = await journal.clock();
    const queue = await openQueue(context, journal, {
      report: ({ shortMessage }: LifeboatError) => void say(`queue: ${shortMessage}`),
    });
    const news = new RunNews({
      home: workspace.home,
      journal,
      say: (run, text) => void say(`${run}  ${text}`),
    });
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    const here = new Worker({
      runOf: (runId) => progressOfRun(journal, runId),
      openRuns: () => progressOfOpenRuns(journal),
      newsAmong: (runs, openRuns, marginMs) => news.among(runs, openRuns, marginMs),
      noted: (run) => news.noted(run),
      refusalOf: (run) => refusalOf({ config, workspace, labels: label }, run),
      drive: (run) =>
        withinLimits(journal, config, run, workspace.pace, (inTurn) =>
          driveLeft({ ...setting, inTurn }, run, plans),
        ),
      isHeld: async (runId) => (await journal.holder(`run/${runId}`)) !== undefined,
      wake: (runs) => queue.wake(runs),
      wakeAt: (run, at) => queue.wakeAt(run, at),
      end: (why) => broken.reject(why),
      say: (run, text) => void say(`${run}  ${text}`),
      now: () => clock().getTime(),
    });
    await queue.every(await plannedSchedules(journal, config, clock()));
    const record = new ScheduleRecord(journal);
    const whenDue = async ({ what }: Schedule, due: Due) => {
      const schedule = what as unknown as ScheduleConfig;
      const beginning = await beginsNow(journal, record, schedule, due);
      if (beginning === undefined) return;
      const { name } = schedule;
      const again = beginning.isAgain ? ', begun before and not done' : '';
      say(`schedule ${name}: due at ${formatTime(due.at.toISOString())}${due.late ? ', late' : ''}${again}`);
      const doing = { journal, beginning, say: (line: string) => void say(`${name}: ${line}`) };
      const code = await runSchedule(context, config, schedule, doing);
      await hasRun(journal, schedule, due, code);
      say(`schedule ${name}: ended with ${code}`);
    };
    /** Ends this process if it can write nothing any more: its unit begins another. */
    const orEnd = (thrown: unknown) => {
      if (isUnwritable(thrown)) broken.reject(thrown);
      throw thrown;
    };
    const stop = new AbortController();
    const stopped = Promise.withResolvers<NodeJS.Signals>();
    const onSignal = (signal: NodeJS.Signals) => stopped.resolve(signal);
    for (const signal of SIGNALS) process.on(signal, onSignal);
    const sweep = (which: 'quiet' | 'all') =>
      here.sweep(which).catch((thrown: unknown) => void say(`sweep: ${wordsOf(thrown)}`));
    const isQueueOwn = journal.stampedBy === 'machine';
    const sweeping = setInterval(() => void sweep('quiet'), SWEEP_MS);
    try {
      const working = queue.work(
        { look: (run) => here.look(run), due: (schedule, due) => whenDue(schedule, due).catch(orEnd) },
        { concurrency, label: label.join(',') },
      );
      working.catch(() => undefined);
      for (const tag of untagged(label, config))
        say(
          `warning: no instance in ${config.path} is tagged ${show(tag)}, so that label takes no run of one`,
        );
      const rights = await tooManyRights(context);
      if (rights !== undefined) say(`warning: ${rights}`);
      say(`worker ${process.pid} on ${hostname()} takes runs${labelled(label)}, ${concurrency} at once`);
      if (isQueueOwn) {
        // What was left up to here is swept, what is left from here on is heard.
        const { size } = await journal.log.head();
        hearOthers(journal, queue, size, stop.signal).catch(() => undefined);
      }
      void sweep(isQueueOwn ? 'all' : 'quiet');
      const signal = await Promise.race([
        stopped.promise,
        broken.promise,
        working.then(() => 'SIGTERM' as const),
      ]);
      say(`${signal}: takes nothing more, and leaves ${counted(here.holds.length, 'run')} to other workers`);
      clearInterval(sweeping);
      await Promise.all([here.drain('its worker was asked to stop'), queue.stop(DRAIN_MS)]);
      return EXIT.closed;
    } finally {
      stop.abort();
      clearInterval(sweeping);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }
  } finally {
    await workspace.close();
  }
};

/** A shared folder that is away comes back, as a disk that is not mounted yet: its unit begins it again. */
function orLater({ checkpoints }: Pick<LoadedConfig, 'checkpoints'>) {
  return (thrown: unknown): never => {
    const isAway = thrown instanceof LifeboatError && thrown.code === 'store.unshared';
    if (!isAway || lackOfConfig(checkpoints) !== undefined) throw thrown;
    const { code, shortMessage, hints } = thrown;
    throw new LifeboatError(code, shortMessage, { hints, exitCode: EXIT.failed, cause: thrown });
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function untagged(labels: readonly string[], { instances }: LoadedConfig): readonly string[] {
  const tags = new Set(Object.values(instances).flatMap((instance) => instance.tags));
  return labels.filter((label) => !tags.has(label));
}

function labelled(labels: readonly string[]): string {
  return labels.length === 0 ? '' : ` of instances tagged ${labels.map((one) => show(one)).join(' or ')}`;
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof LifeboatError ? thrown.shortMessage : String(thrown);
}
