import { lstatSync, readlinkSync, realpathSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import type { DrillRecord } from '../../report/drill/drill-report.ts';
import { drillsFolder } from './drill-homes.ts';
import { isUnderWay, readRecord } from './drill-records.ts';

/** The folder of a drill that may be removed. */
export interface OldDrill {
  readonly path: string;
  readonly record: DrillRecord;
}

const NAME = /^\d{8}-\d{6}(?:-\d+)?$/u;
/** A folder whose removal has begun: never taken for a drill again. */
const LEAVING = /^\d{8}-\d{6}(?:-\d+)?\.removing$/u;

/**
 * The folders of drills in this one that may go, oldest first. Only what is known to be a drill's own: a
 * folder, no link, named as drills are, of this user, with a record of that name, and of a drill that is
 * over. The newest drill that was proven never is among them: what is due next is counted from it.
 */
export function oldDrills(parent: string): readonly OldDrill[] {
  const all = namesIn(parent)
    .filter(isDrillName)
    .map((name) => join(parent, name))
    .filter(isOwnFolder)
    .flatMap((path): OldDrill[] => {
      const record = readRecord(path);
      return record === undefined || isUnderWay(path) ? [] : [{ path, record }];
    })
    .toSorted((one, other) => msOf(one.record.begunAt) - msOf(other.record.begunAt));
  const proof = all.findLast(({ record }) => record.outcome === 'proven');
  return all.filter((one) => one !== proof);
}

/**
 * Those that go so that `keep` of them stay, the newest that was proven among them. One that is under way
 * does not count.
 */
export function beyond(parent: string, keep: number): readonly OldDrill[] {
  const old = oldDrills(parent);
  // The proven one that always stays is one of those to keep.
  return old.slice(0, Math.max(0, old.length - Math.max(0, keep - 1)));
}

/**
 * Removes the folder of a drill, and the link to it below `links`. It gets another name first: what a process
 * that dies here leaves is no drill any more, and goes with the next removal.
 */
export function removeDrill({ path }: Pick<OldDrill, 'path'>, links: string): void {
  const real = realpathSync(path);
  const leaving = `${path}.removing`;
  renameSync(path, leaving);
  for (const name of namesIn(links)) {
    const link = join(links, name);
    if (lstatSync(link).isSymbolicLink() && readlinkSync(link) === real) unlinkSync(link);
  }
  rmSync(leaving, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes what earlier removals have left. */
export function finishRemovals(parent: string): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (LEAVING.test(name) && isOwnFolder(path))
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether a folder is called as `newDrillHome` calls them. */
export function isDrillName(name: string): boolean {
  return NAME.test(name);
}

/** A folder of this user, and no link to one. */
export function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

/** Removes the oldest drills in this folder until `keep` stay, and says on stderr which ones. */
export function keepNewest(context: CommandContext, parent: string, keep: number): void {
  const links = drillsFolder(homeFolder(context.env));
  finishRemovals(parent);
  for (const old of beyond(parent, keep)) {
    try {
      removeDrill(old, links);
    } catch (cause) {
      throw new LifeboatError('output.file', `the drill ${show(old.path, 200)} cannot be removed`, {
        hints: [`${errorCode(cause) ?? 'the system does not say why'}: remove it by hand`],
        cause,
        exitCode: EXIT.failed,
      });
    }
    context.stderr.write(`removed the drill of ${old.record.begunAt}: ${show(old.path, 200)}\n`);
  }
}
