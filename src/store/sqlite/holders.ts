import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { namesIn } from '../../base/bounded-file.ts';
import { show } from '../../base/text.ts';
import type { Holder, StreamName } from '../journal.ts';

const Note = z.object({
  pid: z.int(),
  host: z.string(),
  since: z.string(),
  command: z.string(),
});

type Note = z.infer<typeof Note>;

/** The path of a stream's lock without the end of its name. */
export function lockOf(home: string, stream: StreamName): string {
  return join(locksFolder(home), `${stream.replace('/', '-')}.lock`);
}

/** The process that has noted that it holds a stream, where it is still there. */
export function holderOf(home: string, stream: StreamName): Holder | undefined {
  const note = readHolder(`${lockOf(home, stream)}.json`);
  if (note === undefined) return undefined;
  const { pid, host, since } = note;
  const isHere = pid === process.pid && host === hostname();
  if (!isHere && !isThere(note)) return undefined;
  return { pid, host: show(host, 60), since: show(since, 30), isHere };
}

/** Where the locks of a home are, and beside each a note of who has it. */
export function locksFolder(home: string): string {
  return join(home, 'locks');
}

/**
 * Notes that this process holds a lock. For the message of whoever is refused; the lock itself does not
 * depend on it.
 */
export function writeHolder(path: string, since: Date): void {
  const holder: Note = {
    pid: process.pid,
    host: hostname(),
    since: since.toISOString(),
    command: show(process.argv.slice(2).join(' '), 120),
  };
  try {
    writeFileSync(`${path}.tmp`, JSON.stringify(holder), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  } catch {
    // A full disk stops the run at its first entry, in words of its own.
  }
}

/**
 * Who noted that they hold a lock; undefined where nothing can be read. A process that was killed leaves its
 * note behind.
 */
export function readHolder(path: string): Note | undefined {
  try {
    return Note.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Every other process with a lock of this home that is still there: `process 4711 on box, which has run/01J
 * since 2026-01-02T03:04:05.678Z`.
 */
export function holdersIn(home: string): readonly string[] {
  const found = new Map<number, string>();
  // A process has the ledgers of its run's instances too: the run comes last, and is the one to name.
  for (const name of namesIn(locksFolder(home))) {
    const [, kind = '', of = ''] = /^(run|instance)-(.+)\.lock\.json$/u.exec(name) ?? [];
    const holder = readHolder(join(locksFolder(home), name));
    if (kind === '' || holder === undefined || !isThere(holder)) continue;
    const { pid, host, since } = holder;
    const what = `${kind}/${show(of, 80)}`;
    found.set(pid, `process ${pid} on ${show(host, 60)}, which has ${what} since ${show(since, 30)}`);
  }
  return [...found.values()].slice(0, MOST_NAMED);
}

const MOST_NAMED = 3;

/**
 * Of another machine nothing is known. Process ids are used again, so this may name the wrong one; it is a
 * hint.
 */
function isThere({ pid, host }: Note): boolean {
  if (pid === process.pid) return false;
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
