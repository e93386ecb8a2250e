import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { isoOf } from '../../base/date.ts';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { counted, formatBytes, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { isForPeople, printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { gatherFollowUps } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { homeFolder } from '../../config/find.ts';
import { listRuns } from '../../runner/runs.ts';
import type { JournalReader } from '../../store/journal.ts';
import { checkLog } from '../../store/log/check-log.ts';
import { rolledBack } from '../../store/log/explain-trouble.ts';
import { homePlace } from '../../store/log/places/folder-place.ts';
import { readFollowUps } from '../../store/projections/follow-ups.ts';
import { type Ledger, readLedgers } from '../../store/projections/ledgers.ts';
import { readPending } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { drillHomes, drillsFolder, inDrill } from '../drill/drill-homes.ts';
import {
  foreignIn,
  foreignWords,
  isDrillName,
  isOwnFolder,
  oldDrills,
  readRecord,
  remainsIn,
  removeDrill,
  removeRemains,
} from '../drill/drill-records.ts';
import { confirmTyped } from '../store/confirm.ts';

interface PruneFlags {
  readonly olderThan: string;
  readonly drills?: boolean;
  readonly downloads?: boolean;
  readonly homes?: boolean;
  readonly yes?: boolean;
}

/**
 * `lifeboat prune`: shows what may be removed and its size, then removes it when a person has typed `remove`,
 * or with `--yes`. Never removes proof of something still in force, or any part of the journal, whose log
 * only grows. Rejects with `journal.rolled-back` (exit 5) if the journal lacks signed entries: then it is
 * unknown what is in force. What cannot be removed stays, and the exit code is 1.
 */
export const prune: Action<PruneFlags> = async (context, _, flags) => {
  const beforeMs = Date.now() - durationFrom(flags.olderThan, 'older-than');
  const all = await findAll(context, flags, beforeMs);
  for (const { path, stays } of all)
    if (stays !== undefined) context.stderr.write(`${show(path, 300)} stays: ${stays}\n`);
  const found = all.filter(({ stays }) => stays === undefined);
  const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
  if (isForPeople(context)) showFound(context, found, bytes);
  if (found.length > 0)
    await confirmTyped(context, {
      word: 'remove',
      given: flags.yes ? 'remove' : undefined,
      what: 'the removal',
      area: 'prune',
      flag: '--yes',
    });
  const problems = new Map(found.flatMap((one) => removeOne(context, one)));
  const items = found.map(({ kind, path, what, at, bytes: size }) => {
    return { kind, path, what, at, bytes: size, problem: problems.get(path) };
  });
  await printResult(context, 'prune', { bytes, items }, () => {
    const removed = found.length - problems.size;
    if (removed > 0) context.stdout.write(`removed: ${counted(removed, 'item')}\n`);
  });
  return problems.size === 0 ? EXIT.closed : EXIT.failed;
};

async function findAll(
  context: CommandContext,
  flags: PruneFlags,
  beforeMs: number,
): Promise<readonly Removable[]> {
  const isAll = [flags.drills, flags.downloads, flags.homes].every((named) => named !== true);
  const found: Removable[] = [];
  if (isAll || flags.drills) found.push(...findDrills(context, beforeMs));
  if (isAll || flags.downloads) found.push(...(await downloadsOf(context, beforeMs)));
  if (isAll || flags.homes) found.push(...(await findHomes(context, beforeMs)));
  return found;
}

/** A home without a journal keeps its downloads: nothing tells what they are for. */
async function downloadsOf(context: CommandContext, beforeMs: number): Promise<readonly Removable[]> {
  const { env } = context;
  const home = homeFolder(env);
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return [];
  try {
    const { trouble } = await checkLog(journal, [homePlace(home)], {
      ...(await checkedAs(context)),
      most: 1,
    });
    if (trouble !== undefined) throw rolledBack(trouble);
    return await findDownloads(journal, home, beforeMs);
  } finally {
    await journal.close();
  }
}

function showFound(context: CommandContext, found: readonly Removable[], bytes: number): void {
  if (found.length === 0) {
    context.stderr.write('there is nothing that may be removed\n');
    return;
  }
  printTable(
    context,
    [
      { title: 'kind' },
      { title: 'what', gives: true },
      { title: 'from (UTC)' },
      { title: 'size', align: 'right' },
      { title: 'path', gives: 'start' },
    ],
    found.map(({ kind, what, at, bytes: size, path }) => [
      kind,
      what,
      formatTime(at),
      formatBytes(size),
      path,
    ]),
  );
  context.stdout.write(`may be removed: ${counted(found.length, 'item')}, ${formatBytes(bytes)}\n`);
}

/** Removes one; on failure, reports the error and returns it with the path. */
function removeOne({ stderr }: CommandContext, { path, remove }: Removable): [string, string][] {
  try {
    remove();
    return [];
  } catch (thrown) {
    const said = thrown instanceof LifeboatError ? thrown.shortMessage : errorCode(thrown);
    const problem = said ?? 'the system does not say why';
    stderr.write(`${show(path, 300)} could not be removed: ${problem}\n`);
    return [[path, problem]];
  }
}

interface Removable extends Omit<ResultOf<'prune'>['items'][number], 'problem'> {
  /** Why it is not removed, to follow "stays"; undefined if it may be removed. */
  readonly stays?: string | undefined;
  /** Removes it; throws file-system errors. */
  remove(): void;
}

/** Bytes of all files below a folder; does not follow links. Unreadable files count as 0. */
function folderSize(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => {
      const path = join(folder, name);
      const found = lstatSync(path);
      return sum + (found.isDirectory() ? folderSize(path) : found.isFile() ? found.size : 0);
    }, 0);
  } catch {
    return 0;
  }
}

/** Finished, and old enough; also what earlier removals left, at any age, since they were confirmed. */
function findDrills({ env }: CommandContext, beforeMs: number): readonly Removable[] {
  const drills = drillsFolder(homeFolder(env));
  const remains = remainsIn(drills).map((path): Removable => {
    const at = isoOf(lstatSync(path).mtimeMs);
    const what = 'what an earlier removal has left';
    return { kind: 'drill', path, what, at, bytes: folderSize(path), remove: () => removeRemains(path) };
  });
  const old = oldDrills(drills).map(({ path, record, foreign }): Removable => {
    const { scope, outcome, endedAt, begunAt } = record;
    return {
      kind: 'drill',
      path,
      what: `${show(scope, 80)}, ${outcome}`,
      at: endedAt ?? begunAt,
      bytes: folderSize(path),
      stays: staysFor(foreign),
      remove: () => removeDrill({ path }, drills),
    };
  });
  return [...remains, ...old.filter(({ at }) => msOf(at) < beforeMs)];
}

function staysFor(foreign: readonly string[]): string | undefined {
  return foreign.length === 0 ? undefined : `it holds ${foreignWords(foreign)}`;
}

/**
 * Homes of rehearsals without a record of a drill: those of earlier versions. Only folders below the drills
 * of this home, whose journal is readable and holds only closed rehearsals.
 */
async function findHomes(context: CommandContext, beforeMs: number): Promise<readonly Removable[]> {
  const links = drillsFolder(homeFolder(context.env));
  const found: Removable[] = [];
  for (const path of drillHomes(context.env)) {
    if (!isDrillName(basename(path)) || !isOwnFolder(path) || readRecord(path) !== undefined) continue;
    const at = await closedAt(inDrill(context, path).env);
    if (at === undefined || msOf(at) >= beforeMs) continue;
    found.push({
      kind: 'home',
      path,
      what: 'a rehearsal without a record of its drill',
      at,
      bytes: folderSize(path),
      stays: staysFor(foreignIn(path)),
      remove: () => removeDrill({ path }, links),
    });
  }
  return found;
}

/** When the last of its runs ended; undefined if one is open or not of a rehearsal, or if that is unknown. */
async function closedAt(env: CommandContext['env']): Promise<string | undefined> {
  try {
    const journal = await openJournalIfAny({ env });
    try {
      const runs = journal === undefined ? [] : await listRuns(journal);
      const isOver = runs.every(({ mode, status }) => mode === 'REHEARSAL' && status !== 'open');
      return isOver
        ? runs
            .map(({ lastAt }) => lastAt)
            .toSorted()
            .at(-1)
        : undefined;
    } finally {
      await journal?.close();
    }
  } catch {
    return undefined;
  }
}

/** Of a run's download (`downloadBackup`), and the files beside an incomplete one. */
const NAME =
  /^backup-(?<id>\d+)-(?<purpose>prove|archive)-(?<run>[0-9A-Z]{26})\.tgz\.enc(?:\.part(?:\.json)?)?$/u;

interface Found {
  readonly instance: string;
  readonly path: string;
  readonly backup: number;
  readonly purpose: string;
  readonly run: RunSummary;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/**
 * Downloads that nothing depends on. Keeps those of runs that are open, in doubt or with a follow-up; each
 * instance's newest copy kept on purpose (`archive`); each key's newest proven backup; those of the recovery
 * card. Ignores files that no run of this journal downloaded.
 */
export async function findDownloads(
  journal: JournalReader,
  home: string,
  beforeMs: number,
): Promise<readonly Removable[]> {
  const runs = new Map((await listRuns(journal)).map((run) => [run.runId, run]));
  const ledgers = new Map(await readLedgers(journal));
  const busy = await busyRuns(journal);
  const all = instancesIn(home).flatMap(({ instance, folder }) => filesIn(instance, folder, runs));
  return all
    .filter((file) => file.modifiedMs < beforeMs && file.run.status !== 'open' && !busy.has(file.run.runId))
    .filter((file) => !isNewestArchive(file, all) && !isProof(file, ledgers.get(file.instance)))
    .map(({ path, instance, backup, purpose, run, bytes, modifiedMs }) => ({
      kind: 'download',
      path,
      what: `backup ${backup} of ${show(instance, 80)} (${purpose}), run ${run.runId}`,
      at: isoOf(modifiedMs),
      bytes,
      remove: () => rmSync(path),
    }));
}

async function busyRuns(journal: JournalReader): Promise<ReadonlySet<string>> {
  const followUps = await gatherFollowUps(journal);
  const doubts = await readPending(journal);
  const inLedgers = await readFollowUps(journal, 'open');
  return new Set([
    ...followUps.flatMap(({ run }) => run?.runId ?? []),
    ...inLedgers.flatMap(({ run }) => run ?? []),
    ...doubts.flatMap(({ run }) => run?.runId ?? []),
  ]);
}

function instancesIn(home: string): { readonly instance: string; readonly folder: string }[] {
  const folder = join(home, 'backups');
  return namesIn(folder)
    .map((instance) => ({ instance, folder: join(folder, instance) }))
    .filter(({ folder: one }) => lstatSync(one).isDirectory());
}

function filesIn(instance: string, folder: string, runs: ReadonlyMap<string, RunSummary>): Found[] {
  return namesIn(folder).flatMap((name): Found[] => {
    const { id, purpose = '', run: runId = '' } = NAME.exec(name)?.groups ?? {};
    const run = runs.get(runId);
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (id === undefined || run === undefined || found?.isFile() !== true) return [];
    const { size: bytes, mtimeMs: modifiedMs } = found;
    return [{ instance, path, backup: Number(id), purpose, run, bytes, modifiedMs }];
  });
}

/** The copy of a backup under an old key may be the only one that can still be opened. */
function isNewestArchive(file: Found, all: readonly Found[]): boolean {
  const archives = all.filter(({ instance, purpose }) => instance === file.instance && purpose === 'archive');
  const newest = archives.toSorted((one, other) => other.modifiedMs - one.modifiedMs)[0];
  return newest?.path === file.path;
}

function isProof({ backup }: Found, ledger: Ledger | undefined): boolean {
  if (ledger === undefined) return false;
  const { proven, card } = ledger;
  const ofKeys = proven.filter(
    ({ fingerprint }, at) => proven.findIndex((one) => one.fingerprint === fingerprint) === at,
  );
  return [...ofKeys, card?.proven, card?.newest].some((one) => one?.id === backup);
}
