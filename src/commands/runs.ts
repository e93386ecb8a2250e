import { homeFolder } from '../config/load.ts';
import { EXIT } from '../errors.ts';
import { formatTime } from '../format.ts';
import { listRuns } from '../runner/runs.ts';
import type { CommandContext } from './context.ts';
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
  await journal?.close();
  const wanted = flags.open ? all.filter((run) => run.status === 'open') : all;
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
    run.instance,
    run.mode,
    formatTime(run.startedAt),
    run.status === 'closed' && run.proven ? 'proven' : run.status,
    run.where,
  ]);
  printTable(
    context,
    [
      { title: 'run' },
      { title: 'runbook' },
      { title: 'instance' },
      { title: 'mode' },
      { title: 'begun (UTC)' },
      { title: 'status' },
      { title: 'where', gives: true },
    ],
    rows,
  );
  return EXIT.closed;
}
