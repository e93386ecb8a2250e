import { runbookOf } from '../../../machines/index.ts';
import { LifeboatError } from '../../base/errors.ts';
import { slicesOf } from '../../report/measure/slices.ts';
import type { Report } from '../../report/model/model.ts';
import { buildReport, type ReportOptions } from '../../report/report.ts';
import { followUpsOf } from '../../runner/fold.ts';
import type { Entry, JournalReader, Log } from '../../store/journal.ts';
import { lossesOf } from '../../store/log/losses.ts';
import type { RunSummary } from '../../store/projections/runs.ts';
import { measuresOfRun } from './measure-run.ts';

type ReportedRun = Pick<RunSummary, 'runId' | 'instance' | 'runbook' | 'version' | 'target'>;

/**
 * The report of a run, with what the run wrote into the ledgers of its instances and the newest signed head
 * of the run. `files` are those that belong to its evidence.
 */
export async function reportOf(
  journal: Pick<JournalReader, 'read'> & { readonly log: Pick<Log, 'head'> },
  { runId, instance, runbook, version, target }: ReportedRun,
  files: readonly { readonly name: string; readonly sha256: string }[] = [],
): Promise<Report> {
  const entries = await journal.read(`run/${runId}`);
  const history = await ledgersOf(journal, [...new Set([instance, target ?? instance])]);
  const { note } = await journal.log.head();
  return buildReport(entries, {
    generatedAt: new Date(),
    history,
    ledger: history.filter(
      ({ body }) => typeof body === 'object' && body !== null && 'run' in body && body['run'] === runId,
    ),
    files,
    losses: await lossesOf(journal),
    ...whatItTook(runbook, version, entries),
    ...(note === undefined ? {} : { note }),
  });
}

async function ledgersOf(
  journal: Pick<JournalReader, 'read'>,
  instances: readonly string[],
): Promise<readonly Entry[]> {
  const ledgers = await Promise.all(instances.map((name) => journal.read(`instance/${name}`)));
  return ledgers.flat();
}

/**
 * The recovery in figures. A run whose version of its runbook is not kept has none here: its states are not
 * known any more.
 */
function whatItTook(
  id: string,
  version: string,
  entries: readonly Entry[],
): Pick<ReportOptions, 'measures' | 'followUps' | 'sliceOf'> {
  const runbook = runbookOf(id, version);
  if (runbook === undefined) return {};
  try {
    const measures = measuresOfRun(id, entries);
    if (measures === undefined) return {};
    return { measures, followUps: followUpsOf(runbook, entries), sliceOf: slicesOf(runbook) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'run.diverged') return {};
    throw thrown;
  }
}
