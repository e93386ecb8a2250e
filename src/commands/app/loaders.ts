import { basename } from 'node:path';
import { stillOpen } from '../../../machines/parts/unfinished.ts';
import { dateAt } from '../../base/date.ts';
import { idOfInstance } from '../../base/instance-url.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isTaken, notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { followUpsOfRun, gatherFollowUps } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny, openReaderOf, unheard } from '../../compose/store-of.ts';
import { loginName } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { storeNamed } from '../../config/store-named.ts';
import type { ReportFormat } from '../../report/render-report.ts';
import { findRun, listRuns } from '../../runner/runs.ts';
import type { JournalReader, Log, StoredEntry, StreamName } from '../../store/journal.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { isStreamName } from '../../store/new-entry.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns } from '../../store/projections/runs.ts';
import { type DryRunFacts, dryRunFacts, refusedRun } from '../../view/app/dry-run-facts.ts';
import {
  ENTRIES_A_PAGE,
  type EntriesPage,
  type EntriesWanted,
  entryRows,
  type OlderEntriesWanted,
} from '../../view/app/entries-page.ts';
import {
  type Home,
  type HomeLab,
  type Loaders,
  type ReportText,
  type RunRow,
  reportCommand,
  reportFile,
  type TypedMoment,
} from '../../view/app/sources.ts';
import type { StartWish } from '../../view/app/start-wish.ts';
import { holderWords } from '../../view/run-record.ts';
import { type FollowUpRow, mostUrgent } from '../../view/view-follow-ups.ts';
import { drillHomes, inDrill, whereRunIs } from '../drill/drill-homes.ts';
import { rowOf } from '../followups/followups.ts';
import { brandOf } from '../run/run-report.ts';
import { seeWorkers } from '../worker/workers-seen.ts';
import { fileChecker } from './check-file.ts';
import { loadAudit } from './load-audit.ts';
import { fleetLoader } from './load-fleet.ts';
import { loadBackups, loadInstance } from './load-instance.ts';
import { keptKeyring, loadKeys } from './load-keys.ts';
import { loadLab } from './load-lab.ts';

/** The loaders of the app's screens. They only read, and leave nothing open. */
export function loadersFor(context: CommandContext, config: LoadedConfig): Loaders {
  const loadRuns = runsLoader(context);
  const look = fileChecker(context);
  return {
    home: async (_, emit) => emit(await homeOf(context, config)),
    fleet: fleetLoader(context, config),
    runs: async (_, emit) => emit(await loadRuns()),
    workers: async (_, emit) => emit(await seeWorkers(context)),
    followUps: async (_, emit) => emit(await loadFollowUps(context)),
    drillRuns: async (_, emit) => emit(await loadDrillRuns(context)),
    instance: (of, emit, signal) => loadInstance(context, config, of, emit, signal),
    backups: async (of, emit, signal) => emit(await loadBackups(context, config, of, signal)),
    keys: async (_, emit) => emit(await loadKeys(context, config)),
    entries: async (of, emit) => emit(await loadEntries(context, of)),
    olderEntries: async (of, emit) => emit(await loadOlderEntries(context, of)),
    audit: async (of, emit, signal) => emit(await loadAudit(context, of, signal)),
    dryRun: async (of, emit, signal) => emit(await loadDryRun(context, config, of, signal)),
    moment: async (of, emit) => emit(await momentTyped(of)),
    report: async (of, emit) => emit(await loadReport(context, of)),
    lab: async (_, emit, signal) => emit(await loadLab(config, signal)),
    secretFile: async (of, emit, signal) => emit(await look.secretFile(of, signal)),
    publicKeyFile: async (of, emit, signal) => emit(await look.publicKeyFile(of, signal)),
  };
}

/** Parses a moment of the past; the date parser is imported on first use. */
async function momentTyped(text: string): Promise<TypedMoment> {
  const { readMoment } = await import('../../view/moment.ts');
  const now = new Date();
  const read = readMoment(text, { now, earliest: dateAt(0), latest: now });
  return 'time' in read ? { time: read.time.toISOString() } : read;
}

/** What a run would do, and what blocks it; the refusal of a run is a result too. */
async function loadDryRun(
  context: CommandContext,
  config: LoadedConfig,
  { runbook: id, ...flags }: StartWish,
  signal: AbortSignal,
): Promise<DryRunFacts> {
  const { findDryRun } = await import('../run/dry-run.ts');
  try {
    const keys = () => keptKeyring(context);
    const found = await findDryRun(context, config, [id], flags, { keys, signal });
    return dryRunFacts(found, found.usual);
  } catch (thrown) {
    signal.throwIfAborted();
    return refusedRun(thrown);
  }
}

/** The facts from config and environment. Opens nothing. */
export async function homeOf(context: CommandContext, config: LoadedConfig): Promise<Home> {
  const store = await storeNamed(context.env, context.configPath);
  const folder = homeFolder(context.env);
  return {
    instances: Object.entries(config.instances).map(([name, { role, rehearsal, revision, url }]) => ({
      name,
      role,
      isRehearsal: rehearsal,
      revision: String(revision),
      place: new URL(url).host,
      ...addressOf(url),
    })),
    apps: Object.values(config.instances).flatMap(({ apps = [] }) => apps.map(({ name }) => name)),
    operator: config.operator.name ?? loginName(context.env),
    folder,
    config: config.path,
    store: store === 'sqlite' ? folder : withoutPassword(store),
    lab: labIn(config),
  };
}

function labIn({ lab, instances }: LoadedConfig): HomeLab | undefined {
  if (lab === undefined) return undefined;
  const { origin, host } = new URL(lab.url);
  const elsewhere = Object.entries(instances).filter(([, { url }]) => new URL(url).origin !== origin);
  return { place: host, elsewhere: elsewhere.map(([name]) => name) };
}

function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/[^/@:]*):[^@/]*@/u, '$1@');
}

/** Empty for an address that no client accepts: opening the instance reports what is wrong with it. */
function addressOf(url: string): { readonly address?: string } {
  const address = idOfInstance(url);
  return address === undefined ? {} : { address };
}

/** Every open follow-up, as `lifeboat followups` lists them. Empty in a home without a journal. */
async function loadFollowUps(context: CommandContext): Promise<readonly FollowUpRow[]> {
  const journal = await openJournalIfAny(unheard(context));
  if (journal === undefined) return [];
  try {
    const now = new Date();
    const found = await gatherFollowUps(journal);
    const rows = found.filter(({ followUp }) => followUp.closed === undefined).map((one) => rowOf(one, now));
    return mostUrgent(rows);
  } finally {
    await journal.close();
  }
}

/** The newest entries of the journal, two pages at most. Empty in a home without a journal. */
function loadEntries(context: CommandContext, { stream }: EntriesWanted): Promise<EntriesPage> {
  return reading(context, async (journal) => {
    const size = await sizeOf(journal, stream);
    const first = Math.max(0, (Math.floor((size - 1) / ENTRIES_A_PAGE) - 1) * ENTRIES_A_PAGE);
    const page = await pageOf(journal, stream, first, size);
    return { ...page, anchor: await anchorOfHead(journal.log).catch(() => undefined) };
  });
}

/** One page of older entries, which never change. */
function loadOlderEntries(
  context: CommandContext,
  { stream, page }: OlderEntriesWanted,
): Promise<EntriesPage> {
  const first = page * ENTRIES_A_PAGE;
  return reading(context, async (journal) => {
    const size = await sizeOf(journal, stream);
    return pageOf(journal, stream, first, Math.min(size, first + ENTRIES_A_PAGE));
  });
}

/** What the journal holds of entries; none in a home without one. */
async function reading(
  context: CommandContext,
  look: (journal: JournalReader) => Promise<EntriesPage>,
): Promise<EntriesPage> {
  const journal = await openJournalIfAny(unheard(context));
  if (journal === undefined) return { rows: [], first: 0, size: 0 };
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}

async function sizeOf(journal: JournalReader, stream: string | undefined): Promise<number> {
  if (stream === undefined) return (await journal.log.head()).size;
  return isStreamName(stream) ? (await journal.head(stream)).seq : 0;
}

async function pageOf(
  journal: JournalReader,
  stream: string | undefined,
  first: number,
  end: number,
): Promise<EntriesPage> {
  const entries =
    stream === undefined
      ? await leaves(journal, first, end)
      : await ofStream(journal, stream as StreamName, first, end);
  return { rows: entryRows(entries).toReversed(), first, size: await sizeOf(journal, stream) };
}

async function leaves(journal: JournalReader, first: number, end: number): Promise<readonly StoredEntry[]> {
  const found: StoredEntry[] = [];
  if (first >= end) return found;
  for await (const entry of journal.log.stored(first)) {
    // Entries without a place in the log come last; an audit names them.
    if (entry.index < first) continue;
    if (entry.index >= end) break;
    found.push(entry);
  }
  return found;
}

async function ofStream(
  journal: JournalReader,
  stream: StreamName,
  first: number,
  end: number,
): Promise<readonly StoredEntry[]> {
  if (first >= end) return [];
  const entries = await journal.read(stream, first + 1);
  return entries
    .filter(({ seq }) => seq <= end)
    .map((entry) => ({ ...entry, body: JSON.stringify(entry.body) }));
}

/** `lifeboat runs` lists older runs. */
const MAX = 500;

/** The newest runs and every open one, newest first. Empty in a home without a journal. */
function runsLoader(context: CommandContext): () => Promise<readonly RunRow[]> {
  const runsIn = runsReader();
  return async () => {
    const journal = await openJournalIfAny(unheard(context));
    if (journal === undefined) return [];
    try {
      return await Promise.all((await runsIn(journal)).map((run) => runRowOf(journal, run)));
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
    // The head first: the next call sees what is written in between. A damaged log has runs too.
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
async function loadDrillRuns(context: CommandContext): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  for (const home of drillHomes(context.env).toReversed()) {
    const runs = await runsLoader(inDrill(context, home))().catch(() => []);
    rows.push(...runs.map((run) => ({ ...run, drill: show(basename(home), 80) })));
    if (rows.length >= MAX) break;
  }
  return rows;
}

/** Reads follow-ups and holders only for runs that can have any: the list is read every two seconds. */
async function runRowOf(journal: JournalReader, run: RunSummary): Promise<RunRow> {
  if (run.status !== 'open') return { ...run, followUps: 0 };
  const holder = await journal.holder(`run/${run.runId}`).catch(() => undefined);
  return {
    ...run,
    followUps: stillOpen(await followUpsOfRun(journal, run)).length,
    heldBy: holder && holderWords(holder),
  };
}

/** The report of a run as `lifeboat report` prints it. Rejects as that does. */
async function loadReport(context: CommandContext, runId: string): Promise<ReportText> {
  const { run, text } = await renderedReport(context, runId, 'md');
  return {
    markdown: text,
    command: reportCommand(run.runId),
    mode: run.mode,
    instance: run.target === undefined ? run.instance : `${run.instance} -> ${run.target}`,
  };
}

const MAX_FILES = 1_000;

/** Writes the report as HTML to a new file in the current folder and returns the file's name. */
export async function writeReport(context: CommandContext, runId: string): Promise<string> {
  const { run, text } = await renderedReport(context, runId, 'html');
  for (let at = 1; at <= MAX_FILES; at += 1) {
    const file = reportFile(run.runId, at);
    try {
      writeNewFile(file, text);
      return file;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(file, thrown);
    }
  }
  throw isTaken(reportFile(run.runId, MAX_FILES));
}

async function renderedReport(
  context: CommandContext,
  runId: string,
  format: ReportFormat,
): Promise<{ readonly run: RunSummary; readonly text: string }> {
  const { reportOf } = await import('../run/run-report.ts');
  const { renderReport } = await import('../../report/render-report.ts');
  const journal = await openReaderOf(await whereRunIs(context, runId));
  try {
    const run = await findRun(journal, runId);
    return { run, text: renderReport(await reportOf(journal, run), format, await brandOf(context)) };
  } finally {
    await journal.close();
  }
}
