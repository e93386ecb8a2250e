import { basename } from 'node:path';
import { stillOpen } from '../../../machines/parts/unfinished.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { followUpsOfRun } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { listRuns } from '../../runner/runs.ts';
import type { JournalReader, Log } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns } from '../../store/projections/runs.ts';
import type { RunRow } from '../../view/app/sources.ts';
import { holderWords } from '../../view/run-record.ts';
import { drillHomes, inDrill } from '../drill/drill-homes.ts';

/** `lifeboat runs` lists older runs. */
const MAX = 500;

/**
 * Returns the newest runs, newest first, and every open one, at each call. Empty in a home without a journal.
 */
export function runsLoader(context: CommandContext): () => Promise<readonly RunRow[]> {
  const runsIn = runsReader();
  return async () => {
    const journal = await openJournalIfAny(context);
    if (journal === undefined) return [];
    try {
      return await Promise.all((await runsIn(journal)).map((run) => rowOf(journal, run)));
    } finally {
      await journal.close();
    }
  };
}

type RunsJournal = Pick<JournalReader, 'rows'> & { readonly log: Pick<Log, 'head'> };

/** Reads the runs of a journal, and rereads them only after something was written to it. */
export function runsReader(): (journal: RunsJournal) => Promise<readonly RunSummary[]> {
  let last: { readonly root: string; readonly runs: readonly RunSummary[] } | undefined;
  return async (journal) => {
    // Read the head before the runs: the next call then sees what is written in between. A damaged log has
    // runs too.
    const root = await journal.log.head().then(
      (head) => head.root,
      () => undefined,
    );
    if (last !== undefined && last.root === root) return last.runs;
    const newest = (await listRuns(journal, MAX)).toReversed();
    const known = new Set(newest.map(({ runId }) => runId));
    const older = (await openRuns(journal)).filter(({ runId }) => !known.has(runId)).toReversed();
    const runs = [...newest, ...older];
    last = root === undefined ? undefined : { root, runs };
    return runs;
  };
}

/** The newest runs of the drills made from this home, newest first. */
export async function loadDrillRuns(context: CommandContext): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  for (const home of drillHomes(context.env).toReversed()) {
    const runs = await runsLoader(inDrill(context, home))().catch(() => []);
    rows.push(...runs.map((run) => ({ ...run, drill: show(basename(home), 80) })));
    if (rows.length >= MAX) break;
  }
  return rows;
}

/** Reads follow-ups and holders only for runs that can have any: the list is read every two seconds. */
async function rowOf(journal: JournalReader, run: RunSummary): Promise<RunRow> {
  if (run.status !== 'open') return { ...run, followUps: 0 };
  const holder = await journal.holder(`run/${run.runId}`).catch(() => undefined);
  return {
    ...run,
    followUps: stillOpen(await followUpsOfRun(journal, run)).length,
    heldBy: holder && holderWords(holder),
  };
}
