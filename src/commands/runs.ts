import { basename } from 'node:path';
import { stillOwed } from '../../machines/parts/obligation.ts';
import { EXIT } from '../errors.ts';
import { formatTime } from '../format.ts';
import { listRuns, type RunSummary } from '../runner/runs.ts';
import type { JournalReader } from '../store/journal.ts';
import type { CommandContext } from './context.ts';
import { drillHomes, inDrill } from './drill/drill-homes.ts';
import { owedBy } from './open-obligations.ts';
import { printJson } from './print-json.ts';
import { printTable } from './print-table.ts';
import { openJournalIfAny } from './reading.ts';

interface Listed extends RunSummary {
  readonly owes: number;
  /** The home of the drill that the run belongs to. */
  readonly drill?: string;
}

/**
 * `lifeboat runs`: every run of this home, oldest first; with `--drills` those of the drills that were made
 * from it.
 */
export async function runs(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly open?: boolean; readonly drills?: boolean; readonly json?: boolean },
): Promise<number> {
  const drills = drillHomes(context.env);
  const wanted: Listed[] = [];
  if (flags.drills !== true) wanted.push(...(await runsIn(context, flags)));
  else
    for (const drill of drills)
      wanted.push(...(await runsIn(inDrill(context, drill), flags)).map((run) => ({ ...run, drill })));
  if (flags.json) {
    for (const run of wanted) printJson(context, run);
    return EXIT.closed;
  }
  if (wanted.length === 0) {
    context.stderr.write(`${nothingListed(flags, drills.length)}\n`);
    return EXIT.closed;
  }
  const rows = wanted.map((run) => [
    run.runId,
    run.runbook,
    run.target === undefined ? run.instance : `${run.instance} -> ${run.target}`,
    run.mode,
    formatTime(run.startedAt),
    run.status === 'closed' && run.proven ? 'proven' : run.status,
    run.owes === 0 ? '' : String(run.owes),
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
      { title: 'begun (UTC)', drops: true },
      { title: 'status' },
      { title: 'owes', align: 'right' },
      { title: 'where', gives: true },
      ...(flags.drills === true ? [{ title: 'drill' }] : []),
    ],
    rows,
  );
  return EXIT.closed;
}

async function runsIn(context: CommandContext, flags: { readonly open?: boolean }): Promise<Listed[]> {
  const journal = await openJournalIfAny(context);
  const all = journal === undefined ? [] : await listRuns(journal);
  const wanted = await Promise.all(
    all
      .filter((run) => !flags.open || run.status === 'open')
      .map(async (run) => ({ ...run, owes: await owesOf(journal, run) })),
  );
  await journal?.close();
  return wanted;
}

function nothingListed(
  flags: { readonly open?: boolean; readonly drills?: boolean },
  drills: number,
): string {
  if (flags.open) return 'no run is open';
  if (flags.drills) return 'there are no drills yet: try `lifeboat drill`';
  return drills === 0
    ? 'there are no runs yet: try `lifeboat drill`'
    : 'there are no runs yet but those of drills: `lifeboat runs --drills` lists them';
}

/** How much an open run still owes; a closed one owes nothing that is not in a ledger. */
async function owesOf(journal: JournalReader | undefined, run: RunSummary): Promise<number> {
  if (journal === undefined || run.status !== 'open') return 0;
  return stillOwed(await owedBy(journal, run)).length;
}
