import { access, chown, mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { LifeboatError } from '../../errors.ts';
import { show } from '../../text.ts';
import type { EngineUser } from './launcher.ts';

/** What `tar-stream` gives; its own types do not say that an entry can be read as bytes. */
interface TarEntry extends AsyncIterable<Buffer> {
  readonly header: Header;
  resume(): unknown;
}

/**
 * Unpacks a base backup into a new folder: 0700 and 0600, owned by the database's user. A base backup holds files and
 * folders only, so anything else (links, devices, paths that leave the folder, a cut tar) rejects with `lab.content`.
 */
export async function extractBaseBackup(
  content: Readable,
  folder: string,
  owner: EngineUser | undefined,
  signal: AbortSignal,
): Promise<void> {
  const own = async (path: string) => {
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  };
  const makeFolder = async (path: string) => {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) await own(made);
  };
  const place = async (entry: TarEntry) => {
    const path = pathInside(folder, entry.header.name);
    if (entry.header.type === 'directory') {
      entry.resume();
      return await makeFolder(path);
    }
    if (entry.header.type !== 'file')
      throw unusable(`it holds a ${entry.header.type}: ${show(entry.header.name)}`);
    await makeFolder(dirname(path));
    // `wx`: an entry that comes twice is refused, and nothing is ever written through a link.
    await using file = await open(path, 'wx', 0o600);
    for await (const bytes of entry) await file.writeFile(bytes);
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
  };
  try {
    await makeFolder(folder);
    await unpack(content, place, signal);
    await access(join(folder, 'PG_VERSION'));
  } catch (error) {
    content.destroy();
    throw error instanceof LifeboatError ? error : unusable(messageOf(error), error);
  }
}

async function unpack(
  content: Readable,
  place: (entry: TarEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const entries = extract();
  const fed = pipeline(content, entries, { signal });
  // A bad entry ends the pipeline as well; the entry's own error is the one to report.
  fed.catch(() => undefined);
  for await (const entry of entries as AsyncIterable<TarEntry>) await place(entry);
  await fed;
}

function pathInside(folder: string, name: string): string {
  const path = resolve(join(folder, name));
  if (path !== folder && !path.startsWith(folder + sep))
    throw unusable(`an entry leaves the folder: ${show(name)}`);
  return path;
}

function messageOf(error: unknown): string {
  return show(error instanceof Error ? error.message : String(error));
}

function unusable(why: string, cause?: unknown): LifeboatError {
  return new LifeboatError('lab.content', `the backup is not a base backup: ${why}`, {
    hints: ['a scratch instance takes the decrypted and unzipped tar of a backup of this service'],
    cause,
  });
}
