import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { LifeboatError, troubleWith } from '../../base/errors.ts';
import { type FileLock, tryLock } from '../../base/file-lock.ts';
import { show } from '../../base/text.ts';
import { homeFolder } from '../../config/find.ts';
import { type DrillChapter, DrillRecord } from '../../report/drill/drill-report.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { drillsFolder, linksTo, newDrillHome } from './drill-homes.ts';

const FILE = 'drill.json';
const LOCK = 'drill.lock';
/** Bytes. A record is small; a larger file is not one of ours. */
const LARGEST = 1024 * 1024;

export type DrillAbout = Pick<DrillRecord, 'scope' | 'revision' | 'version'>;

export type DrillEnd = Pick<DrillRecord, 'outcome' | 'chapters'> & { readonly failure?: string };

/** The record of a running drill. */
export interface OpenRecord {
  readonly record: DrillRecord;
  /** Writes how the drill ended, and returns the record. */
  end(how: DrillEnd): Promise<DrillRecord>;
  /** Allows the folder to be removed. Does nothing the second time. */
  release(): void;
}

/**
 * Makes the folder of a new drill and begins its record there. Rejects as `newDrillHome` and `beginRecord`
 * do; then nothing of it remains.
 */
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
export function recordNow(folder: string): DrillRecord | undefined {
  const first = readRecord(folder);
  if (first?.outcome !== 'running' || isUnderWay(folder)) return first;
  // Read again: the drill may have ended before the lock was tried.
  const record = readRecord(folder);
  return record?.outcome === 'running' ? { ...record, outcome: 'died' } : record;
}

/** Whether the process of a drill still runs. */
export function isUnderWay(folder: string): boolean {
  try {
    const lock = tryLock(join(folder, LOCK));
    lock?.release();
    return lock === undefined;
  } catch {
    // If the lock cannot be tried, assume that it does.
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
