import { runbooks } from '../../machines/index.ts';
import { checkpointRoot, readNotes } from '../evidence/checkpoint-files.ts';
import { type ReportOptions, runReport } from '../evidence/report.ts';
import type { Entry, JournalReader } from '../journal/journal.ts';
import { obligationsOf } from '../runner/run-obligations.ts';
import type { RunSummary } from '../runner/runs.ts';
import { measuresOfRun } from './measure-run.ts';

type ReportedRun = Pick<RunSummary, 'runId' | 'instance' | 'runbook' | 'version' | 'target'>;

/** The report of a run, with what the run wrote into the ledger of its instance and the newest signed head of the run. */
export async function writeReport(
  journal: JournalReader,
  home: string,
  { runId, instance, runbook, version, target }: ReportedRun,
  files: readonly { readonly name: string; readonly sha256: string }[] = [],
): Promise<string> {
  const entries = await journal.read(`run/${runId}`);
  const ledger = await ledgerOf(journal, runId, [...new Set([instance, target ?? instance])]);
  const note = readNotes(checkpointRoot(home), `run/${runId}`).findLast(({ path }) =>
    path.endsWith('latest.note'),
  )?.note;
  return runReport(entries, {
    generatedAt: new Date(),
    ledger,
    files,
    ...whatItTook(runbook, version, entries),
    ...(note === undefined ? {} : { note }),
  });
}

/** What the run wrote into the ledgers of its instances. */
async function ledgerOf(
  journal: JournalReader,
  runId: string,
  instances: readonly string[],
): Promise<readonly Entry[]> {
  const ledgers = await Promise.all(instances.map((name) => journal.read(`instance/${name}`)));
  return ledgers
    .flat()
    .filter(
      ({ body }) => typeof body === 'object' && body !== null && 'run' in body && body['run'] === runId,
    );
}

/** The recovery in figures. A run of another version of its runbook has none here: its states are not known any more. */
function whatItTook(
  id: string,
  version: string,
  entries: readonly Entry[],
): Pick<ReportOptions, 'measures' | 'obligations'> {
  const runbook = Object.hasOwn(runbooks, id) ? runbooks[id] : undefined;
  if (runbook?.version !== version) return {};
  const measures = measuresOfRun(id, entries);
  return measures === undefined ? {} : { measures, obligations: obligationsOf(runbook, entries) };
}
