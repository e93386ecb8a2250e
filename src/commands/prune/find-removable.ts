import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { isoOf } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { ResultOf } from '../../cli/print-result.ts';
import { gatherFollowUps } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import { listRuns } from '../../runner/runs.ts';
import type { JournalReader } from '../../store/journal.ts';
import { readFollowUps } from '../../store/projections/follow-ups.ts';
import { type Ledger, readLedgers } from '../../store/projections/ledgers.ts';
import { readPending } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { drillHomes, drillsFolder, inDrill } from '../drill/drill-homes.ts';
import { readRecord } from '../drill/drill-records.ts';
import { foreignIn } from '../drill/foreign-files.ts';
import {
  foreignWords,
  isDrillName,
  isOwnFolder,
  oldDrills,
  remainsIn,
  removeDrill,
  removeRemains,
} from '../drill/keep-drills.ts';

/** A file or folder of this home that may be removed. */
export interface Removable extends Omit<ResultOf<'prune'>['items'][number], 'problem'> {
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

/**
 * Finished drills of this home that were last of use before then, and what earlier removals left, whatever
 * its age: its removal was already confirmed.
 */
export function findDrills({ env }: CommandContext, beforeMs: number): readonly Removable[] {
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
export async function findHomes(context: CommandContext, beforeMs: number): Promise<readonly Removable[]> {
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

/**
 * The name that a run gives a download (`downloadBackup`), and those of the files beside an incomplete one.
 */
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
 * Backups that runs have downloaded and that nothing depends on any more. Keeps the downloads of a run that
 * is open, has a call in doubt or an open follow-up; of each instance the newest copy kept on purpose
 * (`archive`); the newest proven backup of each key, and the backups that the recovery card names. Ignores
 * files that no run of this journal downloaded.
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

/** Runs that leave something to do, or to find out. */
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
