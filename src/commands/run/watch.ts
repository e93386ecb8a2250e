import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printRecord } from '../../cli/print-result.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { canDraw } from '../../plain/terminal.ts';
import { findRun } from '../../runner/runs.ts';
import { followRun } from '../../runner/watched-run.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { RunPort } from '../../view/run-port.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { configIfAny, watchPort } from './watch-port.ts';

/**
 * `lifeboat watch [RUN]`: follows a run that another process drives, until it ends or the person leaves; both
 * are exit 0. In a terminal on the screen, else as lines; with `-o json` its entries, from the first on.
 */
export const watch: Action<{ readonly plain?: boolean }> = async (context, [word], flags) => {
  const journal = await openReaderOf(await whereRunIs(context, word));
  try {
    const summary = await findRun(journal, word);
    if (!isForPeople(context)) {
      await printFollowing(context, journal, summary.runId);
      return EXIT.closed;
    }
    const port = await watchPort(context, journal, summary);
    try {
      await shown(context, port, flags.plain === true);
    } finally {
      await port.detach();
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
};

/** The same for an existing screen: `detach` closes the journal, too. */
export async function watchBeside(context: CommandContext, runId: string): Promise<RunPort> {
  const journal = await openReaderOf(await whereRunIs(context, runId));
  try {
    const port = await watchPort(context, journal, await findRun(journal, runId));
    const detach = async () => {
      await port.detach();
      await journal.close();
    };
    return { ...port, detach };
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

async function shown(context: CommandContext, port: RunPort, isPlain: boolean): Promise<void> {
  if (!isPlain && canDraw(context)) {
    const { showRun } = await import('../../tui/show-run.ts');
    const { connect } = context;
    const config = await configIfAny(context);
    const isAlone = connect === undefined || config === undefined;
    await showRun(port, context, isAlone ? {} : { connect: (screen) => connect(context, config, screen) });
    return;
  }
  const { showRunPlainly } = await import('../../plain/show-run-plainly.ts');
  await showRunPlainly(port, context);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function printFollowing(context: CommandContext, journal: JournalReader, runId: string): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // Following a journal does not keep the process alive, and nothing else here does.
  const awake = setInterval(() => undefined, 60_000);
  try {
    for await (const group of followRun(journal, runId, stop.signal))
      for (const entry of group) await printRecord(context, 'entry', entry);
  } finally {
    clearInterval(awake);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
