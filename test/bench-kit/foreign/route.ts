import type { Answer, Json, TaskWish } from './call.ts';
import type { ForeignBackup, ForeignInstance } from './instance.ts';
import type { ForeignOptions } from './options.ts';

/** What the routes act on: every instance, and the taste of the whole. */
export interface World {
  readonly options: ForeignOptions;
  readonly instances: readonly ForeignInstance[];
  now(): Date;
  /** The dashboard address of an instance. */
  urlOf(instance: ForeignInstance): string;
}

/** A request whose path names an instance that there is. */
export interface Asked {
  readonly instance: ForeignInstance;
  /** The last number in the path; NaN when there is none. */
  readonly id: number;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Empty when there was none. */
  readonly body: Json;
  readonly wish: TaskWish;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** What follows the instance in the path; `:id` stands for one segment. */
  readonly path: string;
  /** Needs no more than the right to read, whatever its method. */
  readonly onlyReads?: boolean;
  answer(asked: Asked): Answer | Promise<Answer>;
}

/**
 * Whether a backup can be downloaded now: it is done, its key was given by the user, and the key is not too
 * old for this service.
 */
export function isOffered(backup: ForeignBackup, { keys }: ForeignInstance, world: World): boolean {
  if (backup.file === undefined || backup.status !== 'done' || backup.key === undefined) return false;
  return world.options.oldDownloads !== false || backup.key === keys.at(-1);
}

/** The backup with an id, unless it was discarded. */
export function backupOf({ instance, id }: Asked): ForeignBackup | undefined {
  return instance.backups.find((backup) => backup.id === id);
}
