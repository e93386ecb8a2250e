import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LastSeen } from '../../machines/parts/recovery-data.ts';
import { readPlainFile } from '../base/bounded-file.ts';
import { makePrivateFolder } from '../base/folders.ts';
import { idOfInstance } from '../base/instance-url.ts';
import { msOf } from '../base/instant.ts';
import { lazily } from '../base/lazily.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import { homeFolder } from '../config/find.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';
import type { KeptFit } from './try-fit.ts';

/*
 * The last list of an instance's backups: `$LIFEBOAT_HOME/last-seen/<instance>.json`. A lost instance cannot
 * be asked for the id that a recovery takes. No evidence, so unsigned: a run offers it, the operator confirms
 * it, the service decides. It never makes reading an instance fail.
 */

/** The service lists more, if it can be asked. */
const MAX = 20;
/** Bytes: twenty backups, however long their ids. */
const MAX_BYTES = 64 * 1024;
/** Milliseconds after which an unchanged list gets a new date. */
const DATED_MS = 10 * 60 * 1000;

/** Built once: a board reads the file of every instance. */
const LAST_SEEN = lazily(LastSeen);

/** What an instance lists: its done backups, newest first, and what their first blocks show. */
export interface Listed {
  readonly done: readonly ListedBackup[];
  readonly at: Date;
  readonly fits: readonly KeptFit[];
}

/** Keeps the newest of the done backups that an instance lists. Never rejects. */
export function rememberBackups(
  { env }: { readonly env: NodeJS.ProcessEnv },
  config: LoadedConfig,
): (name: string, seen: Listed) => Promise<void> {
  const homeOf = lazily(() => homeFolder(env));
  return async (name, { done, at, fits }) => {
    const backups = done.slice(0, MAX).map((backup) => ({ ...backup, status: 'done' }));
    const url = config.instances[name]?.url;
    if (backups.length === 0 || url === undefined) return;
    try {
      const home = homeOf();
      const seen = { at: at.toISOString(), place: idOfInstance(url) ?? url, backups, fits };
      const text = `${JSON.stringify(seen)}\n`;
      if (text.length > MAX_BYTES || isKept(readKept(home, name), seen)) return;
      makePrivateFolder(home);
      makeFolderInside(home, join(home, 'last-seen'));
      replaceFile(pathOf(home, name), text);
    } catch {
      // A full disk or a read-only home must not fail the command.
    }
  };
}

/** What was kept of the instances of a config; see `backupsLastSeen`. Never rejects. */
export function recallBackups(
  { env }: { readonly env: NodeJS.ProcessEnv },
  config: LoadedConfig,
): (name: string) => Promise<LastSeen | undefined> {
  const homeOf = lazily(() => homeFolder(env));
  return async (name) => {
    const url = config.instances[name]?.url;
    return url === undefined ? undefined : backupsLastSeen(homeOf(), name, url);
  };
}

/** Undefined if nothing was kept, the name meant another instance, or the file is unreadable. */
export function backupsLastSeen(home: string, name: string, url: string): LastSeen | undefined {
  const kept = readKept(home, name);
  return kept?.['place'] === (idOfInstance(url) ?? url) ? LAST_SEEN().safeParse(kept).data : undefined;
}

/** Atomic while the machine runs. Not flushed (thousands of lists): a list lost in a crash is made again. */
function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, path);
  } catch (thrown) {
    rmSync(unfinished, { force: true });
    throw thrown;
  }
}

function isKept(
  kept: Readonly<Record<string, unknown>> | undefined,
  seen: {
    readonly at: string;
    readonly place: string;
    readonly backups: unknown;
    readonly fits: unknown;
  },
): boolean {
  const age = msOf(seen.at) - msOf(String(kept?.['at']));
  const isRecent = age >= 0 && age < DATED_MS;
  return (
    isRecent &&
    kept?.['place'] === seen.place &&
    JSON.stringify(kept['backups']) === JSON.stringify(seen.backups) &&
    JSON.stringify(kept['fits']) === JSON.stringify(seen.fits)
  );
}

function readKept(home: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const kept: unknown = JSON.parse(readPlainFile(pathOf(home, name), MAX_BYTES).toString());
    return typeof kept === 'object' && kept !== null ? { ...kept } : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(home: string, name: string): string {
  return join(home, 'last-seen', `${name}.json`);
}
