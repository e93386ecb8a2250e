import { basename } from 'node:path';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { EXIT } from '../base/errors.ts';
import { formatTime } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { wholeNumber } from '../cli/numbers.ts';
import { printResult, printTable } from '../cli/print-result.ts';
import { followUpsOfRun } from '../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../compose/store-of.ts';
import { listRuns } from '../runner/runs.ts';
import type { JournalReader } from '../store/journal.ts';
import type { ListedRun, RunSummary } from '../store/projections/run-summary.ts';
import { openRuns } from '../store/projections/runs.ts';
import { drillHomes, inDrill } from './drill/drill-homes.ts';

interface RunsFlags {
  readonly open?: boolean;
  readonly inDoubt?: boolean;
  readonly drills?: boolean;
  readonly limit?: string;
}

/**
 * `lifeboat runs`: lists every run, oldest first, or the newest `--limit` of them; with `--drills` those of
 * the drills made from this home. The cost of `--open` does not grow with the number of finished runs.
 */
export async function runs(context: CommandContext, _: readonly string[], flags: RunsFlags): Promise<number> {
  if (flags.inDoubt === true) return (await import('./run/doubts.ts')).printDoubts(context);
  const newest = flags.limit === undefined ? undefined : wholeNumber(flags.limit, '--limit', 1);
  const drills = drillHomes(context.env);
  const wanted: ListedRun[] = [];
  if (flags.drills !== true) wanted.push(...(await runsIn(context, flags, newest)));
  else
    for (const drill of drills)
      wanted.push(
        ...(await runsIn(inDrill(context, drill), flags, newest)).map((run) => ({ ...run, drill })),
      );
  await printResult(context, 'runs', { items: wanted }, () => {
    if (wanted.length === 0) context.stderr.write(`${nothingListed(flags, drills.length)}\n`);
    else printRuns(context, wanted, flags.drills === true);
  });
  return EXIT.closed;
}

function printRuns(context: CommandContext, wanted: readonly ListedRun[], areOfDrills: boolean): void {
  const rows = wanted.map((run) => [
    run.runId,
    run.runbook,
    run.target === undefined ? run.instance : `${run.instance} -> ${run.target}`,
    run.mode,
    formatTime(run.startedAt),
    show(run.by ?? '', 40),
    run.result ?? run.status,
    run.followUps === 0 ? '' : String(run.followUps),
    run.where,
    ...(run.drill === undefined ? [] : [basename(run.drill)]),
  ]);
  printTable(
    context,
    [
      { title: 'run' },
      { title: 'runbook', gives: true },
      { title: 'instance', gives: true },
      { title: 'mode', drops: true },
      { title: 'started (UTC)', drops: true },
      { title: 'by', drops: true },
      { title: 'status' },
      { title: 'follow-ups', align: 'right' },
      { title: 'where', gives: true },
      ...(areOfDrills ? [{ title: 'drill' }] : []),
    ],
    rows,
  );
}

async function runsIn(
  context: CommandContext,
  flags: RunsFlags,
  newest: number | undefined,
): Promise<ListedRun[]> {
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return [];
  try {
    const runs = flags.open ? await openRuns(journal) : await listRuns(journal, newest);
    return await Promise.all(
      runs
        .slice(-(newest ?? runs.length))
        .map(async (run) => ({ ...run, followUps: await openFollowUpsOf(journal, run) })),
    );
  } finally {
    await journal.close();
  }
}

function nothingListed(
  flags: { readonly open?: boolean; readonly drills?: boolean },
  drills: number,
): string {
  if (flags.open) return 'no run is open';
  if (flags.drills) return 'there are no drills yet: try `lifeboat drill`';
  return drills === 0
    ? 'there are no runs yet: try `lifeboat drill`'
    : 'there are no runs yet except those of drills: `lifeboat runs --drills` lists them';
}

/** A closed run's are in a ledger. */
async function openFollowUpsOf(journal: JournalReader, run: RunSummary): Promise<number> {
  if (run.status !== 'open') return 0;
  return stillOpen(await followUpsOfRun(journal, run)).length;
}
