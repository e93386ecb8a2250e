import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { type FileLock, tryLock } from '../../base/file-lock.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import { type DrillChapter, DrillRecord, isFromFuture } from '../../report/drill/drill-report.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { drillsFolder, linksTo, newDrillHome } from './drill-homes.ts';

const FILE = 'drill.json';
const LOCK = 'drill.lock';
/** Bytes. A record is small; a larger file is not one of ours. */
const LARGEST = 1024 * 1024;

export type DrillAbout = Pick<DrillRecord, 'scope' | 'revision' | 'version'>;

export type DrillEnd = Pick<DrillRecord, 'outcome' | 'chapters'> & { readonly failure?: string };

export interface OpenRecord {
  readonly record: DrillRecord;
  end(how: DrillEnd): Promise<DrillRecord>;
  /** Allows the folder to be removed. Does nothing the second time. */
  release(): void;
}

/** Rejects as `newDrillHome` and `beginRecord` do; then nothing of the folder remains. */
export async function beginDrill(
  env: NodeJS.ProcessEnv,
  report: string | undefined,
  about: DrillAbout,
): Promise<{ readonly folder: string; readonly open: OpenRecord }> {
  let folder: string | undefined;
  try {
    folder = newDrillHome(env, report);
    return { folder, open: await beginRecord(folder, about) };
  } catch (thrown) {
    if (folder !== undefined) dropHome(folder, drillsFolder(homeFolder(env)));
    throw thrown;
  }
}

/** Ignores errors: remains matter less than the disk failure that caused them. */
function dropHome(folder: string, links: string): void {
  try {
    for (const path of [...linksTo(folder, links), folder]) rmSync(path, { recursive: true, force: true });
  } catch {}
}

/**
 * Begins the record of a drill in its folder. Until `release` the kernel keeps a lock there, so that no
 * process takes the folder of a running drill for one that is over. A process that dies leaves `running`.
 * Rejects with `output.file` if the record cannot be written, as on a full disk; so does `end`.
 */
export async function beginRecord(folder: string, about: DrillAbout): Promise<OpenRecord> {
  let lock: FileLock | undefined;
  const record = recordOf(basename(folder), about);
  const { default: writeFileAtomic } = await import('write-file-atomic');
  const write = async (one: DrillRecord) => {
    try {
      await writeFileAtomic(join(folder, FILE), `${JSON.stringify(one, undefined, 2)}\n`, { mode: 0o600 });
      return one;
    } catch (cause) {
      throw notRecorded(folder, cause);
    }
  };
  try {
    lock = tryLock(join(folder, LOCK));
    await write(record);
  } catch (thrown) {
    lock?.release();
    throw notRecorded(folder, thrown);
  }
  return {
    record,
    end: (how) => write(endedNow(record, how)),
    release: () => lock?.release(),
  };
}

function notRecorded(folder: string, cause: unknown): LifeboatError {
  if (cause instanceof LifeboatError) return cause;
  const { why, advice } = troubleWith(folder, cause);
  return new LifeboatError('output.file', `the drill cannot be recorded in ${show(folder, 120)}: ${why}`, {
    hints: ['earlier drills and their records stay as they are', advice],
    cause,
  });
}

export function recordOf(id: string, about: DrillAbout): DrillRecord {
  const begunAt = new Date().toISOString();
  return { schema: 'lifeboat.drill/1', id, ...about, begunAt, outcome: 'running', chapters: [] };
}

export function endedNow(record: DrillRecord, how: DrillEnd): DrillRecord {
  return { ...record, ...how, endedAt: new Date().toISOString() };
}

/** The record in a drill's folder; undefined if there is none, or one of another folder. */
export function readRecord(folder: string): DrillRecord | undefined {
  try {
    const path = join(folder, FILE);
    const found = lstatSync(path);
    if (!found.isFile() || found.size > LARGEST) return undefined;
    const { data } = DrillRecord.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return data?.id === basename(folder) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** The records of the drills made from this home, oldest first. */
export function knownDrills(env: NodeJS.ProcessEnv): readonly DrillRecord[] {
  return recordsIn(drillsFolder(homeFolder(env)));
}

/** The records of all drills in a folder, or linked from it, oldest first by name. */
function recordsIn(parent: string): readonly DrillRecord[] {
  return namesIn(parent).flatMap((name) => recordNow(join(parent, name)) ?? []);
}

/** The current record of a drill: one whose process is gone without an end has died. */
function recordNow(folder: string): DrillRecord | undefined {
  const first = readRecord(folder);
  if (first?.outcome !== 'running' || isUnderWay(folder)) return first;
  // Read again: the drill may have ended before the lock was tried.
  const record = readRecord(folder);
  return record?.outcome === 'running' ? { ...record, outcome: 'died' } : record;
}

function isUnderWay(folder: string): boolean {
  try {
    const lock = tryLock(join(folder, LOCK));
    lock?.release();
    return lock === undefined;
  } catch {
    // A lock that cannot be tried counts as held.
    return true;
  }
}

/** The result of a chapter that was played; without a proof its run did not close. */
export interface Played {
  readonly proof: ChapterProof | undefined;
  readonly seconds: number;
}

/** A chapter as the record keeps it: with its proof, or how it ended without one. */
export function chapterRecord(
  { runbook, title, instance }: Pick<Chapter, 'runbook' | 'title' | 'instance'>,
  played: Played | undefined,
  objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined } = {},
): DrillChapter {
  const { proof, seconds = 0 } = played ?? {};
  const { rtoSeconds, rpoSeconds } = proof?.measures ?? {};
  const { rto, rpo } = objectives;
  return {
    runbook,
    title,
    instance,
    runIds: [...(proof?.runIds ?? [])],
    outcome:
      played === undefined
        ? 'unplayed'
        : proof === undefined
          ? 'broken'
          : proof.proven
            ? 'proven'
            : 'not-proven',
    seconds,
    checks: (proof?.checks ?? []).map(({ what, holds }) => ({ what, holds })),
    tables: (proof?.tables ?? []).map(({ name, rows, equal }) => ({ name, rows, equal })),
    ...(rtoSeconds === undefined ? {} : { rtoSeconds }),
    ...(rpoSeconds === undefined ? {} : { rpoSeconds }),
    objectives: {
      ...(rto === undefined ? {} : { rtoSeconds: rto / 1000 }),
      ...(rpo === undefined ? {} : { rpoSeconds: rpo / 1000 }),
    },
  };
}

interface OldDrill {
  readonly path: string;
  readonly record: DrillRecord;
  /** Paths of files that no drill made: a person keeps them, so the folder stays. */
  readonly foreign: readonly string[];
}

const NAME = /^\d{8}-\d{6}(?:-\d+)?$/u;
/** A folder whose removal has begun: never treated as a drill again. */
const LEAVING = /^\d{8}-\d{6}(?:-\d+)?\.removing$/u;

/**
 * Finished drills, oldest first, except those that always stay: the newest proven one (the next due date
 * counts from it) and those dated in the future (unknown age). Only certain drills: a folder, no link, named
 * as drills are, owned by this user, with a record of that name. One with `foreign` stays too.
 */
export function oldDrills(parent: string): readonly OldDrill[] {
  const { old, proof } = drillsOver(parent);
  return old.filter((one) => one !== proof);
}

function drillsOver(parent: string, current?: string) {
  const now = new Date();
  const old = namesIn(parent)
    .filter(isDrillName)
    .map((name) => join(parent, name))
    .filter(isOwnFolder)
    .flatMap((path): OldDrill[] => {
      const record = recordNow(path);
      const isOver = record !== undefined && (path === current || !isUnderWay(path));
      return isOver && !isFromFuture(record, now) ? [{ path, record, foreign: foreignIn(path) }] : [];
    })
    .toSorted((one, other) => msOf(one.record.begunAt) - msOf(other.record.begunAt));
  return { old, proof: old.findLast(({ record }) => record.outcome === 'proven') };
}

/**
 * The drills to remove so that `keep` stay: the one in `current`, which has just ended and is never removed,
 * the newest proven one, and the newest others. Those that always stay for another reason do not count.
 */
export function beyond(current: string, keep: number): readonly OldDrill[] {
  const { old, proof } = drillsOver(dirname(current), current);
  const others = old.filter((one) => one !== proof && one.path !== current && one.foreign.length === 0);
  const staying = proof === undefined || proof.path === current ? 1 : 2;
  return others.slice(0, Math.max(0, others.length + staying - keep));
}

/**
 * Removes a drill and its links below `links`. Renames it first: after a crash the remains are no drill, and
 * the next removal deletes them. Throws `prune.foreign` for files that no drill made, and file-system errors.
 */
export function removeDrill({ path }: Pick<OldDrill, 'path'>, links: string): void {
  const foreign = foreignIn(path);
  // A file may have been added while the person was asked.
  if (foreign.length > 0) throw new LifeboatError('prune.foreign', `it holds ${foreignWords(foreign)}`);
  const leading = linksTo(path, links);
  const leaving = `${path}.removing`;
  renameSync(path, leaving);
  for (const link of leading) unlinkSync(link);
  removeRemains(leaving);
}

/** What earlier, interrupted removals left in this folder. Excludes remains that hold anything foreign. */
export function remainsIn(parent: string): readonly string[] {
  return namesIn(parent)
    .filter((name) => LEAVING.test(name))
    .map((name) => join(parent, name))
    .filter((path) => isOwnFolder(path) && foreignIn(path).length === 0);
}

/** Removes the remains of a drill. Throws file-system errors. */
export function removeRemains(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}

export function isDrillName(name: string): boolean {
  return NAME.test(name);
}

/** A folder owned by this user, and not a link to one. */
export function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

/** Names files in a folder that are not Lifeboat's, to follow "holds". */
export function foreignWords(foreign: readonly string[]): string {
  const [first = ''] = foreign;
  const more = foreign.length === 1 ? '' : ` and ${foreign.length - 1} more`;
  return `what no drill has made: ${show(first, 120)}${more}`;
}

/**
 * Removes the oldest drills beside the one in `current` until `keep` stay, and lists them on stderr. Throws
 * `output.file` when one cannot be removed, after it has tried the others.
 */
export function keepNewest(context: CommandContext, current: string, keep: number): void {
  const links = drillsFolder(homeFolder(context.env));
  const problems: LifeboatError[] = [];
  const remove = (path: string, what: string, act: () => void) => {
    try {
      act();
      context.stderr.write(`removed ${what}: ${show(path, 200)}\n`);
    } catch (cause) {
      problems.push(notRemoved(path, cause));
    }
  };
  for (const path of remainsIn(dirname(current)))
    remove(path, 'what an earlier removal has left', () => removeRemains(path));
  for (const old of beyond(current, keep))
    remove(old.path, `the drill of ${old.record.begunAt}`, () => removeDrill(old, links));
  const [first] = problems;
  if (first !== undefined) throw first;
}

function notRemoved(path: string, cause: unknown): LifeboatError {
  const { why, advice } =
    cause instanceof LifeboatError
      ? { why: cause.shortMessage, advice: 'remove it by hand' }
      : troubleWith(path, cause);
  return new LifeboatError('output.file', `the drill ${show(path, 200)} cannot be removed: ${why}`, {
    hints: [advice],
    cause,
    exitCode: EXIT.failed,
  });
}

/** The files of a drill by their paths in its folder, including those still being written. */
const FILES =
  /^(?:drill\.(?:json|lock(?:-journal)?)|lifeboat\.db(?:-\w+)?|(?:reports\/[0-9A-Z]{26}\/)?report\.(?:html|json|md))(?:\.\d+)?$/u;
/** Its folders in which people neither read nor sign anything. */
const CLOSED = /^(?:backups|checkpoints|fallback|last-seen|locks|stores|transcripts)$/u;
/** Folders that people do use: a scan of a signed report may be beside the report. */
const OPEN = /^reports(?:\/[0-9A-Z]{26})?$/u;

/** Paths in a drill's folder or remains that no drill made. An unreadable folder is foreign. */
export function foreignIn(folder: string, below = '.'): readonly string[] {
  try {
    return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((one) => {
      const path = below === '.' ? one.name : `${below}/${one.name}`;
      if (one.isDirectory() && OPEN.test(path)) return foreignIn(folder, path);
      return (one.isDirectory() ? CLOSED.test(path) : one.isFile() && FILES.test(path)) ? [] : [path];
    });
  } catch {
    return [below];
  }
}
