import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface KeyringFile {
  readonly path: string;
  /** No password: everyone who can read the file has its contents. */
  readonly isPlain: boolean;
  /** The first line, from 1, that GLib cannot parse: the service then hides the whole file. */
  readonly brokenAt: number | undefined;
  /** Set if plain. Never shown. */
  readonly text: string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** gnome-keyring's files; undefined on systems with another keychain. */
export function keyringFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_DATA_HOME: data, HOME: home } = env;
  if (process.platform === 'win32' || process.platform === 'darwin' || !(data || home)) return undefined;
  return join(data || join(home ?? '', '.local/share'), 'keyrings');
}

/** None if the folder is missing or unreadable. */
export function keyringFiles(folder: string | undefined): readonly KeyringFile[] {
  if (folder === undefined) return [];
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.keyring'));
    return names.sort().flatMap((name) => fileAt(join(folder, name)));
  } catch {
    return [];
  }
}

function fileAt(path: string): KeyringFile[] {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES) return [];
    const text = readFileSync(path, 'utf8');
    // One with a password begins with `GnomeKeyring` and binary data.
    const isPlain = /^(?:\s|#.*\n)*\[keyring\]/u.test(text);
    return [{ path, isPlain, brokenAt: isPlain ? brokenLine(text) : undefined, text: isPlain ? text : '' }];
  } catch {
    return [];
  }
}

/** Every line of a key file is empty, a comment, a `[group]`, or `key=value`. */
function brokenLine(text: string): number | undefined {
  const at = text
    .split('\n')
    .findIndex((line) => !/^\s*(?:$|#|\[[^[\]]+\]\s*$|[^=[\]\s][^=[\]]*=)/u.test(line));
  return at === -1 ? undefined : at + 1;
}
