import { type FindRunbook, runbookOf } from '../../../machines/index.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { readBounded, whyUnread } from '../../base/bounded-file.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { formatSeconds } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';
import { type Brand, LARGEST_LOGO, logoOf } from '../../report/brand.ts';
import { type Measures, measure } from '../../report/measure/measure.ts';
import { SLICES, slicesOf } from '../../report/measure/slices.ts';
import type { Report } from '../../report/model/model.ts';
import { untilEnd } from '../../report/model/model-rows.ts';
import { buildReport, type ReportOptions } from '../../report/report.ts';
import { followUpsOf } from '../../runner/fold.ts';
import { type Entry, HOLDERS_STREAM, type JournalReader, type Log } from '../../store/journal.ts';
import { type Loss, lossesOf } from '../../store/log/log-entries.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';

type ReportedRun = Pick<RunSummary, 'runId' | 'instance' | 'runbook' | 'version' | 'target'>;

type Reader = Pick<JournalReader, 'read'> & { readonly log: Pick<Log, 'head'> };

/** What every report of a journal says alike: its newest signed head, its losses, who holds its keys. */
export interface ReportGround {
  readonly note: string | undefined;
  readonly losses: readonly Loss[];
  readonly holders: readonly Entry[];
}

export async function groundOf(journal: Reader): Promise<ReportGround> {
  const { note } = await journal.log.head();
  return { note, losses: await lossesOf(journal), holders: await journal.read(HOLDERS_STREAM) };
}

/** With its entries in its instances' ledgers and the newest signed head. `files` belong to its evidence. */
export async function reportOf(
  journal: Reader,
  run: ReportedRun,
  files: readonly { readonly name: string; readonly sha256: string }[] = [],
  find: FindRunbook = runbookOf,
): Promise<Report> {
  const entries = await journal.read(`run/${run.runId}`);
  return reportOfEntries(journal, run, { entries, ground: await groundOf(journal), files, find });
}

/** The same for a run whose entries are read already. */
export async function reportOfEntries(
  journal: Pick<JournalReader, 'read'>,
  { runId, instance, runbook, version, target }: ReportedRun,
  {
    entries,
    ground: { note, ...ground },
    files = [],
    find = runbookOf,
  }: {
    readonly entries: readonly Entry[];
    readonly ground: ReportGround;
    readonly files?: readonly { readonly name: string; readonly sha256: string }[];
    readonly find?: FindRunbook;
  },
): Promise<Report> {
  const history = await ledgersOf(journal, [...new Set([instance, target ?? instance])]);
  return buildReport(entries, {
    generatedAt: new Date(),
    history,
    ledger: history.filter(
      ({ body }) => typeof body === 'object' && body !== null && 'run' in body && body['run'] === runId,
    ),
    files,
    ...ground,
    ...whatItTook(find(runbook, version), entries),
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

/** Undefined if the run's version of its runbook is not kept: its states are unknown. */
function whatItTook(
  runbook: Runbook | undefined,
  entries: readonly Entry[],
): Pick<ReportOptions, 'measures' | 'followUps' | 'sliceOf'> {
  if (runbook === undefined) return {};
  try {
    const measures = measuresWith(runbook, entries);
    if (measures === undefined) return {};
    return { measures, followUps: followUpsOf(runbook, entries), sliceOf: slicesOf(runbook) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'run.diverged') return {};
    throw thrown;
  }
}

/** Name and logo of the config; without it neither. Only reports an unusable config or logo on stderr. */
export async function brandOf({
  env,
  configPath,
  stderr,
}: Pick<CommandContext, 'env' | 'configPath' | 'stderr'>): Promise<Brand> {
  let name: string | undefined;
  try {
    const { report } = await loadConfig(env, configPath);
    name = report?.name;
    if (report?.logo === undefined) return { name };
    return { name, logo: logoOf(await bytesOf(report.logo)) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'config.missing') return {};
    const { shortMessage, hints } = failureOf(thrown);
    const rest = hints.map((hint) => `  hint: ${show(hint)}\n`).join('');
    // Nothing of an unusable config is known, not even the name.
    const what = thrown instanceof LifeboatError && thrown.code === 'report.logo' ? 'logo' : 'name and logo';
    stderr.write(`the report is written without ${what}: ${show(shortMessage)}\n${rest}`);
    return { name };
  }
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readBounded(path, LARGEST_LOGO);
  } catch (cause) {
    throw new LifeboatError('report.logo', `${show(path, 200)} cannot be read: ${whyUnread(cause)}`, {
      cause,
    });
  }
}

/** By its journal; undefined for a runbook that recovers nothing, or a version not kept. */
export function measuresOfRun(runbook: string, entries: readonly Entry[], now?: Date): Measures | undefined {
  const { version = '' } = (entries[0]?.body ?? {}) as { readonly version?: string };
  const known = runbookOf(runbook, version);
  return known && measuresWith(known, entries, now);
}

function measuresWith(known: Runbook, entries: readonly Entry[], now?: Date): Measures | undefined {
  const sliceOf = slicesOf(known);
  if (sliceOf === undefined) return undefined;
  const own = untilEnd(entries);
  return measure(own, { sliceOf, followUps: followUpsOf(known, own), now });
}

/** `decide 12 s, queue 1 s`: the slices that took any time. */
export function slicesInWords({ time }: Measures): string {
  return SLICES.filter((slice) => time.slicesMs[slice] > 0)
    .map((slice) => `${slice} ${formatSeconds(time.slicesMs[slice] / 1000)}`)
    .join(', ');
}
