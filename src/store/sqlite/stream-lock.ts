import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { namesIn } from '../../base/bounded-file.ts';
import { LifeboatError, troubleWith } from '../../base/errors.ts';
import { type FileLock, NotALock, tryLock } from '../../base/file-lock.ts';
import { makePrivateFolder } from '../../base/folders.ts';
import { show } from '../../base/text.ts';
import type { Holder, StreamName } from '../journal.ts';
import { checkStreamName } from '../new-entry.ts';

export interface StreamLock {
  /** The lock file is still the locked one, neither deleted nor replaced. */
  isWhole(): boolean;
  isHeld(): boolean;
  /** Idempotent. */
  release(): void;
}

/** Takes the right to write a stream (`tryLock`). Never waits. Throws `journal.held`, naming the holder. */
export function lockStream(home: string, stream: StreamName, since: Date): StreamLock {
  checkStreamName(stream);
  const base = lockOf(home, stream);
  const lock = lockFile(`${base}.db`, stream, `${base}.json`);
  writeHolder(`${base}.json`, since);
  const first = identity(`${base}.db`);
  let isHeld = true;
  return {
    isWhole: () => identity(`${base}.db`) === first,
    isHeld: () => isHeld,
    release() {
      if (!isHeld) return;
      isHeld = false;
      try {
        // If the file was replaced, the note belongs to another process.
        if (identity(`${base}.db`) === first) rmSync(`${base}.json`, { force: true });
      } catch {
        // A leftover note names a process that is gone.
      }
      lock.release();
    },
  };
}

function lockFile(path: string, stream: StreamName, infoPath: string): FileLock {
  try {
    makePrivateFolder(dirname(path));
    const lock = tryLock(path);
    if (lock !== undefined) return lock;
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (error instanceof NotALock)
      throw new LifeboatError('journal.lock', `${show(path)} is not a lock file`, {
        hints: ['nothing was written', 'when no lifeboat is running, move it away: a new one is created'],
        cause: error,
      });
    const { why, advice } = troubleWith(path, error);
    throw new LifeboatError('journal.lost', `the lock of ${stream} cannot be taken: ${why}`, {
      hints: [`${advice}: it is below LIFEBOAT_HOME`],
      evidence: { error: error instanceof Error ? error.message : String(error) },
      cause: error,
    });
  }
  throw heldBy(stream, infoPath);
}

function heldBy(stream: StreamName, infoPath: string): LifeboatError {
  const hints = [
    'it is free as soon as that process ends; a dead process holds no lock',
    'do not delete lock files: two processes could then write at once',
  ];
  const holder = readHolder(infoPath);
  if (holder === undefined)
    return new LifeboatError('journal.held', `${stream} is held by another process`, { hints });
  const { pid, host, since, command } = holder;
  const who = pid === process.pid ? 'this process itself' : `process ${pid} on ${show(host, 60)}`;
  return new LifeboatError('journal.held', `${stream} is held by ${who}, since ${show(since, 30)}`, {
    hints,
    evidence: { pid, host, since, command },
  });
}

const Note = z.object({
  pid: z.int(),
  host: z.string(),
  since: z.string(),
  command: z.string(),
});

type Note = z.infer<typeof Note>;

/** Without its file extension. */
function lockOf(home: string, stream: StreamName): string {
  return join(locksFolder(home), `${stream.replace('/', '-')}.lock`);
}

/** By the note, if the process still exists. */
export function holderOf(home: string, stream: StreamName): Holder | undefined {
  const note = readHolder(`${lockOf(home, stream)}.json`);
  if (note === undefined) return undefined;
  const { pid, host, since } = note;
  const isHere = pid === process.pid && host === hostname();
  if (!isHere && !isThere(note)) return undefined;
  return { pid, host: show(host, 60), since: show(since, 30), isHere };
}

function locksFolder(home: string): string {
  return join(home, 'locks');
}

/** For refused processes; the lock does not depend on the note. */
function writeHolder(path: string, since: Date): void {
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
    // On a full disk the run stops at its first entry, with its own error.
  }
}

/** Undefined if unreadable. A killed process leaves its note behind. */
function readHolder(path: string): Note | undefined {
  try {
    return Note.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Other processes here: `process 4711 on box, which has held run/01J since 2026-01-02T03:04:05.678Z`. */
export function holdersIn(home: string): readonly string[] {
  const found = new Map<number, string>();
  // A process also holds its run's ledgers. The run sorts last, so it is the one named.
  for (const name of namesIn(locksFolder(home))) {
    const [, kind = '', of = ''] = /^(run|instance)-(.+)\.lock\.json$/u.exec(name) ?? [];
    const holder = readHolder(join(locksFolder(home), name));
    if (kind === '' || holder === undefined || !isThere(holder)) continue;
    const { pid, host, since } = holder;
    const what = `${kind}/${show(of, 80)}`;
    found.set(pid, `process ${pid} on ${show(host, 60)}, which has held ${what} since ${show(since, 30)}`);
  }
  return [...found.values()].slice(0, MAX_NAMED);
}

const MAX_NAMED = 3;

/** Those of another machine count as existing. Process ids are reused: only a hint. */
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

/**
 * A check, for after each commit, that the database and its write-ahead log are still the opened files.
 * SQLite silently writes into deleted or replaced files, and those entries are lost. Throws `journal.lost`.
 * Costs two stat calls, a few microseconds.
 */
export function watchFile(file: string): () => void {
  const paths = [file, `${file}-wal`];
  let first: readonly string[] | undefined;
  return () => {
    const now = paths.map(identity);
    first ??= now;
    if (now.every((id, index) => id !== 'missing' && id === first?.[index])) return;
    throw new LifeboatError('journal.lost', `${file} was deleted or replaced while it was in use`, {
      hints: ['no further step is taken', 'put the files back from a backup, then `lifeboat audit verify`'],
    });
  };
}

/** `missing` if there is none. */
export function identity(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'missing' : `${stat.dev}:${stat.ino}`;
}
