import { runbookOf } from '../../../machines/index.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printRecord } from '../../cli/print-result.ts';
import { proseOf } from '../../compose/runbook-files.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { canDraw } from '../../plain/terminal.ts';
import { findRun } from '../../runner/runs.ts';
import { followRun, watchRun } from '../../runner/watched-run.ts';
import type { Holder, JournalReader } from '../../store/journal.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { isEnd } from '../../store/run-entries.ts';
import type { OnScreen, WatchedPort } from '../../view/app/app-port.ts';
import { buildRunView } from '../../view/build-run-view.ts';
import type { PlanView } from '../../view/plan/plan-view.ts';
import type { RunPort } from '../../view/run-port.ts';
import { driverOf } from '../../view/run-record.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { runToResume } from '../plans/find-plan-run.ts';
import { historyOf } from './history.ts';
import { targetsIn } from './run-input.ts';
import { withAnchor } from './run-port.ts';

/**
 * `lifeboat watch [RUN]`: follows a run that another process drives, until it ends or the person leaves; both
 * are exit 0. In a terminal on the screen, else as lines; with `-o json` its entries, from the first on.
 */
export const watch: Action<{ readonly plain?: boolean }> = async (context, [word], flags) => {
  const journal = await openReaderOf(await whereRunIs(context, word));
  try {
    const summary = await runToResume(journal, word);
    if (!isForPeople(context)) {
      await printFollowing(context, journal, summary.runId);
      return EXIT.closed;
    }
    const isPlain = flags.plain === true || !canDraw(context);
    const watched: WatchedPort = isPlain
      ? { of: 'run', port: await watchPort(context, journal, summary) }
      : await watchedPort(context, journal, summary);
    try {
      await shown(context, watched, isPlain);
    } finally {
      await stopWatching(watched);
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
};

/** The same for an existing screen: `detach` closes the journal, too. */
export async function watchBeside(context: CommandContext, runId: string): Promise<WatchedPort> {
  const journal = await openReaderOf(await whereRunIs(context, runId));
  try {
    const watched = await watchedPort(context, journal, await findRun(journal, runId));
    const end = async () => {
      await stopWatching(watched);
      await journal.close();
    };
    return watched.of === 'plan'
      ? { of: 'plan', port: { ...watched.port, leave: end } }
      : { of: 'run', port: { ...watched.port, detach: end } };
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

/** A run for the screen that shows it: the run of a plan has one of its own. */
async function watchedPort(
  context: CommandContext,
  journal: JournalReader,
  summary: RunSummary,
): Promise<WatchedPort> {
  if (summary.runbook === planRunbook.id) {
    const { watchPlan } = await import('../plans/watch-plan.ts');
    const port = await watchPlan(journal, summary);
    if (port !== undefined) return { of: 'plan', port };
  }
  return { of: 'run', port: await watchPort(context, journal, summary) };
}

function stopWatching({ of, port }: WatchedPort): Promise<void> {
  return of === 'plan' ? port.leave() : port.detach();
}

async function shown(context: CommandContext, watched: WatchedPort, isPlain: boolean): Promise<void> {
  if (isPlain && watched.of === 'run') {
    const { showRunPlainly } = await import('../../plain/show-run-plainly.ts');
    await showRunPlainly(watched.port, context);
    return;
  }
  const { connect } = context;
  const config = await configIfAny(context);
  const app =
    connect === undefined || config === undefined
      ? undefined
      : (screen: OnScreen) => connect(context, config, screen);
  if (watched.of === 'run') {
    const { showRun } = await import('../../tui/show-run.ts');
    await showRun(watched.port, context, app === undefined ? {} : { connect: app });
    return;
  }
  const { showPlan } = await import('../../tui/show-plan.ts');
  const { isLost } = await showPlan(watched.port, context, app);
  if (!isLost) context.stdout.write(`${leftWords(watched.port.view())}\n`);
}

/** The last lines about the run of a plan that was watched. */
function leftWords({ plan, state, outcome, watched }: PlanView): string {
  if (outcome !== undefined) return show(outcome.title, 300);
  return [
    'no longer watching: this process has changed nothing',
    `plan ${show(plan)}: ${show(state, 200)}`,
    ...(watched === undefined ? [] : [show(watched.driver, 300)]),
  ].join('\n');
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function printFollowing(context: CommandContext, journal: JournalReader, runId: string): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    for await (const group of followRun(journal, runId, stop.signal))
      for (const entry of group) await printRecord(context, 'entry', entry);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

/** Milliseconds between questions to the store. */
const HOLDER_MS = 2_000;

/**
 * For renderers: cannot be answered; `detach` stops watching and leaves the journal open. Rejects with
 * `run.other-version` for a runbook version not kept.
 */
async function watchPort(
  context: CommandContext,
  journal: JournalReader,
  summary: RunSummary,
): Promise<RunPort> {
  const runbook = runbookOf(summary.runbook, summary.version);
  if (runbook === undefined) throw unreadable(summary);
  const config = await configIfAny(context);
  const prose = await proseOf(runbook, config?.runbooks);
  const targets = config && targetsIn(config);
  const run = await watchRun(journal, runbook, summary);
  const history = historyOf(journal, runbook, summary);
  const listeners = new Set<() => void>();
  let holder: Holder | undefined;
  const askHolder = async () => {
    const found = await journal.holder(`run/${summary.runId}`).catch(() => undefined);
    const isNews = JSON.stringify(found) !== JSON.stringify(holder);
    holder = found;
    if (isNews) for (const listener of listeners) listener();
  };
  await askHolder();
  const asking = setInterval(() => void askHolder(), HOLDER_MS);
  let anchor: string | undefined;
  const ended = run.over
    .finally(() => clearInterval(asking))
    .then(async (how) => {
      if (how !== 'ended') return { how: 'detached' as const, exitCode: 0 };
      anchor = await anchorOfHead(journal.log).catch(() => undefined);
      for (const listener of listeners) listener();
      return { how, exitCode: 0 };
    });
  ended.catch(() => undefined);

  const isOver = () => run.state().entries.some(isEnd);
  const driver = () => (isOver() ? 'it is over' : driverOf(run.state().entries, holder, summary.runId));
  return {
    view: () => {
      const state = run.state();
      const usual = history.times();
      const isFree = holder === undefined && !isOver();
      // If no process drives the run, hide its activity: the activity's clock would otherwise go on.
      const { activity: _, ...resting } = state;
      const doing = isFree ? { ...resting, activity: undefined } : state;
      const view = buildRunView({ ...doing, runbook, prose, usual, targets, now: new Date() });
      return { ...withAnchor(view, anchor), watched: { driver: driver(), isFree } };
    },
    fallback: () =>
      isOver()
        ? '# the run is over: nothing is left to do by hand'
        : `# only the process that drives the run has the fallback script: ${driver()}`,
    subscribe: (listener) => {
      listeners.add(listener);
      const unsubscribe = run.subscribe(listener);
      const forget = history.subscribe(listener);
      return () => {
        listeners.delete(listener);
        unsubscribe();
        forget();
      };
    },
    answer: async () => {
      throw new LifeboatError('run.watched', `this command only watches the run: ${driver()}`, {
        hints: [`to take it over: lifeboat resume ${summary.runId}`],
        exitCode: EXIT.usage,
      });
    },
    wake: () => undefined,
    detach: async () => {
      run.stop();
      await ended.catch(() => undefined);
    },
    ended,
  };
}

/** The config, which names a team's own text for the runbooks; undefined if there is none. */
async function configIfAny({ env, configPath }: CommandContext): Promise<LoadedConfig | undefined> {
  try {
    return await loadConfig(env, configPath);
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'config.missing') return undefined;
    throw thrown;
  }
}

function unreadable({ runId, version }: RunSummary): LifeboatError {
  return new LifeboatError(
    'run.other-version',
    `run ${runId} was written by version ${version} of its runbook, which this lifeboat does not have`,
    {
      hints: [`read its record with: lifeboat audit show ${runId}`],
      exitCode: EXIT.usage,
    },
  );
}
