import { lstatSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { type FileLock, tryLock } from '../../base/file-lock.ts';
import { homeFolder } from '../../config/find.ts';
import { type DrillChapter, DrillRecord } from '../../report/drill/drill-report.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { drillsFolder } from './drill-homes.ts';

const FILE = 'drill.json';
const LOCK = 'drill.lock';
/** A record is small; what is larger is none of ours. */
const LARGEST = 1024 * 1024;

/** The record of a drill that is under way. */
export interface OpenRecord {
  readonly record: DrillRecord;
  /** Writes how it ended, and gives that. */
  end(how: Pick<DrillRecord, 'outcome' | 'chapters'> & { readonly failure?: string }): Promise<DrillRecord>;
  /** From now on the folder may be removed. Does nothing the second time. */
  release(): void;
}

/**
 * Begins the record of a drill in its folder. Until `release` the kernel keeps a lock there, so that nobody
 * takes the folder of a drill that is under way for one that is over. A process that dies leaves `running`.
 */
export async function beginRecord(
  folder: string,
  about: Pick<DrillRecord, 'scope' | 'revision' | 'version'>,
): Promise<OpenRecord> {
  const lock: FileLock | undefined = tryLock(join(folder, LOCK));
  const record: DrillRecord = {
    schema: 'lifeboat.drill/1',
    id: basename(folder),
    ...about,
    begunAt: new Date().toISOString(),
    outcome: 'running',
    chapters: [],
  };
  const { default: writeFileAtomic } = await import('write-file-atomic');
  const write = async (one: DrillRecord) => {
    await writeFileAtomic(join(folder, FILE), `${JSON.stringify(one, undefined, 2)}\n`, { mode: 0o600 });
    return one;
  };
  await write(record);
  return {
    record,
    end: (how) => write({ ...record, ...how, endedAt: new Date().toISOString() }),
    release: () => lock?.release(),
  };
}

/** The record of a drill's folder; undefined where there is none, or one that is not of this folder. */
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

/** The records of the drills that were made from this home, oldest first. */
export function knownDrills(env: NodeJS.ProcessEnv): readonly DrillRecord[] {
  return recordsIn(drillsFolder(homeFolder(env)));
}

/** The drills whose folders, or links to them, lie in this one, oldest first by their names. */
function recordsIn(parent: string): readonly DrillRecord[] {
  return namesIn(parent).flatMap((name) => readRecord(join(parent, name)) ?? []);
}

/** Whether the process of a drill still runs. */
export function isUnderWay(folder: string): boolean {
  try {
    const lock = tryLock(join(folder, LOCK));
    lock?.release();
    return lock === undefined;
  } catch {
    // Without a lock that can be tried, nobody knows.
    return true;
  }
}

/** What became of a chapter that was played; without a proof its run did not close. */
export interface Played {
  readonly proof: ChapterProof | undefined;
  readonly seconds: number;
}

/** A chapter as the record keeps it: with its proof, or how it went without one. */
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
