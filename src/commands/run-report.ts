import { checkpointRoot, readNotes } from '../evidence/checkpoint-files.ts';
import { runReport } from '../evidence/report.ts';
import type { JournalReader } from '../journal/journal.ts';
import type { RunSummary } from '../runner/runs.ts';

/** The report of a run, with what the run wrote into the ledger of its instance and the newest signed head of the run. */
export async function writeReport(
  journal: JournalReader,
  home: string,
  { runId, instance }: Pick<RunSummary, 'runId' | 'instance'>,
  files: readonly { readonly name: string; readonly sha256: string }[] = [],
): Promise<string> {
  const entries = await journal.read(`run/${runId}`);
  const ledger = (await journal.read(`instance/${instance}`)).filter(
    ({ body }) => typeof body === 'object' && body !== null && 'run' in body && body['run'] === runId,
  );
  const note = readNotes(checkpointRoot(home), `run/${runId}`).findLast(({ path }) =>
    path.endsWith('latest.note'),
  )?.note;
  return runReport(entries, {
    generatedAt: new Date(),
    ledger,
    files,
    ...(note === undefined ? {} : { note }),
  });
}
