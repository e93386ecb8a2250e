import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LifeboatError } from '../../base/errors.ts';
import type { Place, Server, Settings } from '../engine/engine.ts';
import { type ArchivedDatabase, filesFor } from './archived-database.ts';
import type { Route } from './history.ts';
import { isHistory } from './log-files.ts';

/**
 * Starts a server on the data folder of an extracted base backup and lets it recover to the end of that
 * backup, on a new timeline: nothing is ever written again onto one that is archived.
 */
export function recoverBackup(place: Place, data: string, archived: ArchivedDatabase): Promise<Server> {
  // Of the archive it sees the histories only, for its new number: the backup brings its log along, and may
  // be of a time from which the archive holds other log under the same names.
  const names = archived.archive.names().filter(isHistory);
  return recover(place, data, archived, names, [
    { recovery_target: 'immediate', recovery_target_timeline: 'current' },
  ]);
}

/**
 * The same, to a point in time. In a span that has ended, a time after its last commit means all of its log.
 */
export function recoverTo(
  place: Place,
  data: string,
  archived: ArchivedDatabase,
  options: { readonly route: Route; readonly time: Date },
): Promise<Server> {
  const { route, time } = options;
  const line = { recovery_target_timeline: String(route.span.timeline) };
  const target = { ...line, recovery_target_time: targetTime(time), recovery_target_inclusive: 'on' };
  const attempts = route.isOver ? [target, line] : [target];
  return recover(place, data, archived, filesFor(archived, route), attempts);
}

/* The server takes ISO 8601 here with a space and an offset, not with `T` and `Z`. */
function targetTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00');
}

const FOLDER = 'replay';

async function recover(
  place: Place,
  data: string,
  { archive }: ArchivedDatabase,
  names: readonly string[],
  attempts: readonly Settings[],
): Promise<Server> {
  const folder = await place.makeFolder(FOLDER);
  try {
    await place.track(archive.lay(names, folder));
    await writeFile(join(data, 'recovery.signal'), '', { mode: 0o644 });
    return await firstThatReaches(attempts, (target) =>
      place.start(data, { ...archive.settings, ...RECOVERY, ...target }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const RECOVERY: Settings = {
  restore_command: `/bin/cp ../${FOLDER}/%f %p`,
  recovery_target_action: 'promote',
  // Nobody looks at a state in between.
  hot_standby: 'off',
};

/** A recovery that ended before its target can be continued with another one. */
async function firstThatReaches(
  attempts: readonly Settings[],
  start: (target: Settings) => Promise<Server>,
): Promise<Server> {
  const [target = {}, ...others] = attempts;
  return await start(target).catch((error: unknown) => {
    if (others.length === 0 || !endedEarly(error)) throw error;
    return firstThatReaches(others, start);
  });
}

/** What PostgreSQL says when the log holds no commit after the target time. */
function endedEarly(error: unknown): boolean {
  return (
    error instanceof LifeboatError &&
    JSON.stringify(error.evidence).includes('recovery ended before configured recovery target was reached')
  );
}
