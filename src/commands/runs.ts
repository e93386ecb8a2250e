import { stillOwed } from '../../machines/parts/obligation.ts';
import { homeFolder } from '../config/load.ts';
import { EXIT } from '../errors.ts';
import { formatTime } from '../format.ts';
import type { JournalReader } from '../journal/journal.ts';
import { listRuns, type RunSummary } from '../runner/runs.ts';
import type { CommandContext } from './context.ts';
import { owedBy } from './open-obligations.ts';
import { printJson } from './print-json.ts';
import { printTable } from './print-table.ts';
import { openJournalIfAny } from './reading.ts';

/** `lifeboat runs`: every run of this home, oldest first. */
export async function runs(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly open?: boolean; readonly json?: boolean },
): Promise<number> {
  const journal = await openJournalIfAny(homeFolder(context.env));
  const all = journal === undefined ? [] : await listRuns(journal);
  const wanted = await Promise.all(
    all
      .filter((run) => !flags.open || run.status === 'open')
      .map(async (run) => ({ ...run, owes: await owesOf(journal, run) })),
  );
  await journal?.close();
  if (flags.json) {
    for (const run of wanted) printJson(context, run);
    return EXIT.closed;
  }
  if (wanted.length === 0) {
    context.stderr.write(flags.open ? 'no run is open\n' : 'there are no runs yet: try `lifeboat drill`\n');
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
    ],
    rows,
  );
  return EXIT.closed;
}

/** How much an open run still owes; a closed one owes nothing that is not in a ledger. */
async function owesOf(journal: JournalReader | undefined, run: RunSummary): Promise<number> {
  if (journal === undefined || run.status !== 'open') return 0;
  return stillOwed(await owedBy(journal, run)).length;
}
