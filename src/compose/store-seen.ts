import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readPlainFile } from '../base/bounded-file.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import { homeFolder } from '../config/find.ts';
import { isPostgres } from '../config/store-address.ts';
import { storeNamed } from '../config/store-named.ts';
import type { CheckOptions } from '../store/log/check-log.ts';
import type { StoreContext } from './store-of.ts';

/*
 * The log that this home found at the address of a team's store: `$LIFEBOAT_HOME/stores/<digest of the
 * address>`. Another log there later means a recreated database, not a store to join.
 */

/** Bytes: the name of a log. */
const LONGEST = 64;
const ORIGIN = /^lifeboat\/[0-9a-f]{16}$/u;

export async function checkedAs(context: StoreContext): Promise<Pick<CheckOptions, 'isShared' | 'seenHere'>> {
  const path = await pathOf(context);
  if (path === undefined) return { isShared: false };
  try {
    const seenHere = readPlainFile(path, LONGEST).toString().trim();
    return { isShared: true, seenHere: ORIGIN.test(seenHere) ? seenHere : undefined };
  } catch {
    return { isShared: true };
  }
}

/** Remembers the log of a team's store; does nothing for the home's store, or an empty one. */
export async function rememberStore(context: StoreContext, origin: string | undefined): Promise<void> {
  const path = await pathOf(context);
  if (path === undefined || origin === undefined) return;
  if ((await checkedAs(context)).seenHere === origin) return;
  const { default: writeFileAtomic } = await import('write-file-atomic');
  const home = homeFolder(context.env);
  makeFolderInside(home, join(home, 'stores'));
  await writeFileAtomic(path, `${origin}\n`, { mode: 0o600 });
}

async function pathOf(context: StoreContext): Promise<string | undefined> {
  const address = await storeNamed(context.env, context.configPath);
  if (!isPostgres(address)) return undefined;
  return join(homeFolder(context.env), 'stores', hash('sha256', placeOfStore(address)).slice(0, 32));
}

/** One spelling for one database: the user and the way of the connection do not count. */
function placeOfStore(address: string): string {
  const { hosts = '', database = '', query = '' } = FORM.exec(address)?.groups ?? {};
  const given = new URLSearchParams(query);
  const named = ['host', 'port', 'dbname'].map((name) => given.get(name) ?? '');
  return [hosts.toLowerCase(), database, ...named].join('\n');
}

const FORM = /^[^:]*:\/\/(?:[^@/?#]*@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?/u;
