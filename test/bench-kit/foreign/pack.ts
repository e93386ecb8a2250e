import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';

/**
 * How the foreign service derives its AES key from the text of the encryption key; options of `openssl enc`.
 */
export const PROFILES = {
  md5: ['-md', 'md5'],
  sha256: ['-md', 'sha256'],
  pbkdf2: ['-pbkdf2'],
} as const;
export type Profile = keyof typeof PROFILES;

export interface Sealed {
  /** The encrypted file. */
  readonly path: string;
  readonly key: string;
  readonly profile: Profile;
}

/** How backups are made and opened. */
export interface Packing {
  readonly pack: typeof pack;
  readonly unpack: typeof unpack;
}

/** Makes a backup of a folder with other people's programs: `tar cz` of its files into `openssl enc`. */
export async function pack(folder: string, { path, key, profile }: Sealed): Promise<void> {
  const tar = spawn('tar', ['-cz', '-C', folder, '.'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const openssl = enc(['-salt', ...PROFILES[profile], '-out', path], key);
  await joined(tar, openssl);
}

/**
 * Opens a backup into a new folder; rejects when the key is another one, and then the folder may hold
 * anything.
 */
export async function unpack({ path, key, profile }: Sealed, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const openssl = enc(['-d', ...PROFILES[profile], '-in', path], key);
  const tar = spawn('tar', ['-xz', '-C', folder], { stdio: ['pipe', 'ignore', 'ignore'] });
  await joined(openssl, tar);
}

/** The key goes through a pipe of its own, as it does not belong into argv or the environment. */
function enc(args: readonly string[], key: string): ChildProcess {
  const all = ['enc', '-aes-256-cbc', ...args, '-pass', 'fd:3'];
  const child = spawn('openssl', all, { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  const pipe = child.stdio[3] as NodeJS.WritableStream | null;
  pipe?.on('error', () => undefined);
  pipe?.end(`${key}\n`);
  return child;
}

/** Gives what the first one writes to the second one; rejects when either fails. */
async function joined(from: ChildProcess, to: ChildProcess): Promise<void> {
  // Whichever ends early breaks the pipe; its exit code says so.
  to.stdin?.on('error', () => from.stdout?.destroy());
  if (to.stdin !== null) from.stdout?.pipe(to.stdin);
  to.stdout?.resume();
  const codes = await Promise.all([from, to].map(async (child) => (await once(child, 'close'))[0]));
  if (codes.some((code) => code !== 0)) {
    throw new Error(`${from.spawnfile} ended with ${codes[0]}, ${to.spawnfile} with ${codes[1]}`);
  }
}
