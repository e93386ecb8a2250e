import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlainFile } from '../../base/bounded-file.ts';
import { LifeboatError } from '../../base/errors.ts';
import { makePrivateFolder, syncFolder } from '../../base/folders.ts';
import type { Secret } from '../../base/secret.ts';
import { printableJson } from '../../base/text.ts';
import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { createSecretGuard, type SecretGuard } from '../../store/secret-guard.ts';
import { type Blanks, type HttpCall, transcriptLine, withheldLine } from './line.ts';

export interface TranscriptState {
  readonly lines: number;
  readonly bytes: number;
  /** Of those bytes, hex. */
  readonly sha256: string;
}

export interface Transcript {
  /** Appends the line of a call. Never throws: the first failure ends the transcript, as `problem` says. */
  write(call: HttpCall): void;
  /** From now on no line may hold this secret in any form. `name` replaces it in requests. */
  guard(secret: Secret, name?: string): void;
  /** Syncs the disk, so that the record cannot outlive the transcript, and returns how far it reaches. */
  keep(): TranscriptState;
  /** Why the transcript ends early. */
  readonly problem: LifeboatError | undefined;
  close(): void;
}

/** Shorter texts are mostly ordinary words. */
const SHORTEST = 8;

/**
 * Opens the transcript of a run for appending; only the process that holds the run may. Each line is written
 * at once, so a killed process loses at most the last one: its remains are cut off here, and a line says so.
 * A transcript that cannot be written does not stop the run: it has a `problem` and takes no more lines.
 */
export function openTranscript(home: string, runId: string): Transcript {
  const guard = createSecretGuard();
  const names = new Map<string, string>();
  const digest = createHash('sha256');
  let [lines, bytes] = [0, 0];
  let problem: LifeboatError | undefined;
  let file: number | undefined;

  const append = (line: string) => {
    if (file === undefined || problem !== undefined) return;
    const data = Buffer.from(`${line}\n`);
    try {
      if (bytes + data.length > MAX_BYTES) throw new Error('it is full');
      // A partial write would leave a torn line in the middle.
      if (writeSync(file, data) !== data.length) throw new Error('the disk is full');
      digest.update(data);
      lines += 1;
      bytes += data.length;
    } catch (cause) {
      problem = notKept(cause);
    }
  };

  try {
    makePrivateFolder(dirname(transcriptPath(home, runId)));
    file = openSync(transcriptPath(home, runId), 'a+', 0o600);
    const torn = takeIn(file, digest, (state) => {
      ({ lines, bytes } = state);
    });
    if (torn > 0) {
      ftruncateSync(file, bytes);
      const at = new Date().toISOString();
      append(
        printableJson({ no: lines + 1, at, note: `the last line was torn: ${torn} bytes were cut off` }),
      );
    }
  } catch (cause) {
    problem = notKept(cause);
  }

  return {
    write(call) {
      try {
        const secrets = [...call.secrets, ...call.hidden];
        const line = transcriptLine(lines + 1, call, blanksOf(secrets, names));
        append(isClean(line, guard, secrets) ? line : withheldLine(lines + 1, call));
      } catch (cause) {
        problem = notKept(cause);
      }
    },
    guard(secret, name) {
      guard.add(secret);
      if (secret.length >= SHORTEST) names.set(secret.reveal(), name ?? '[secret]');
    },
    keep() {
      try {
        if (file !== undefined) syncWithFolders(file, dirname(transcriptPath(home, runId)));
      } catch (cause) {
        problem ??= notKept(cause);
      }
      return { lines, bytes, sha256: digest.copy().digest('hex') };
    },
    get problem() {
      return problem;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** A file that is not synced into its folder is gone after a power cut. */
function syncWithFolders(file: number, folder: string): void {
  fsyncSync(file);
  syncFolder(folder);
  syncFolder(dirname(folder));
}

/** A former secret stays hidden, since later answers may quote it. */
function blanksOf(secrets: readonly Secret[], names: ReadonlyMap<string, string>): Blanks {
  const texts = new Set([...names.keys(), ...secrets.map((secret) => secret.reveal())]);
  return {
    known: [...texts].filter((text) => text !== '').sort((a, b) => b.length - a.length),
    name: (secret) => names.get(secret) ?? '[secret]',
  };
}

function isClean(line: string, guard: SecretGuard, secrets: readonly Secret[]): boolean {
  // Texts of binding parameters can be ordinary words, which may occur in other lines.
  const unknown = secrets.filter((secret) => !guard.knows(secret));
  const own = unknown.length === 0 ? undefined : createSecretGuard();
  for (const secret of unknown) own?.add(secret);
  try {
    guard.check(line, 'the line');
    own?.check(line, 'the line');
    return true;
  } catch {
    return false;
  }
}

/** Counts and hashes the existing whole lines; returns the bytes of a torn one at the end. */
function takeIn(
  file: number,
  digest: Hash,
  found: (state: { readonly lines: number; readonly bytes: number }) => void,
): number {
  const stats = fstatSync(file);
  // A pipe would take lines until it is full, and then wait for a reader.
  if (!stats.isFile()) throw new Error('it is not a plain file');
  const { size } = stats;
  const content = Buffer.alloc(Math.min(size, MAX_BYTES));
  let read = 0;
  while (read < content.length) {
    const more = readSync(file, content, read, content.length - read, read);
    if (more === 0) break;
    read += more;
  }
  const whole = content.subarray(0, content.subarray(0, read).lastIndexOf(0x0a) + 1);
  let lines = 0;
  for (let at = whole.indexOf(0x0a); at !== -1; at = whole.indexOf(0x0a, at + 1)) lines += 1;
  digest.update(whole);
  found({ lines, bytes: whole.length });
  return size - whole.length;
}

function notKept(cause: unknown): LifeboatError {
  return new LifeboatError('evidence.transcript', 'the transcript of requests cannot be written', {
    hints: ['the run itself goes on, and its journal is complete'],
    evidence: { error: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}

/** Readers stop there, a polling run must not fill the disk, and a bundle must need little memory. */
const MAX_BYTES = 32 * 1024 * 1024;

export function transcriptPath(home: string, runId: string): string {
  return join(home, 'transcripts', `${runId}.jsonl`);
}

/** The present transcript; undefined if there is none, or the file is not ours. */
export function transcriptOf(home: string, runId: string): Buffer | undefined {
  try {
    return readPlainFile(transcriptPath(home, runId), MAX_BYTES);
  } catch {
    return undefined;
  }
}

/** The note of a transcript as it is, for a run that no process drives now. Empty if none is here. */
export function transcriptLeft(home: string, runId: string) {
  const bytes = transcriptOf(home, runId);
  if (bytes === undefined || bytes.length === 0) return [];
  const lines = bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
  return [
    { type: 'transcript.kept', body: { lines, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') } },
  ];
}

/** The earlier transcript is on another machine (`host`). Empty if it is here, or nothing was sent. */
export function transcriptElsewhere(
  home: string,
  runId: string,
  entries: readonly Entry[],
  host: string,
): readonly { readonly type: 'transcript.elsewhere'; readonly body: { readonly host?: string } }[] {
  const since = entries.slice(entries.findLastIndex(({ type }) => type === 'transcript.elsewhere') + 1);
  const kept = since.map(keptIn).findLast((body) => body !== undefined);
  const before = entries.map(hostIn).findLast((name) => name !== undefined);
  const here = transcriptOf(home, runId);
  const isHere =
    kept === undefined
      ? here !== undefined || before === host || !since.some(({ type }) => type === 'activity.begun')
      : kept.bytes === 0 ||
        (here !== undefined && hash('sha256', here.subarray(0, kept.bytes), 'hex') === kept.sha256);
  if (isHere) return [];
  return [{ type: 'transcript.elsewhere', body: before === undefined ? {} : { host: before } }];
}

function keptIn(entry: Entry) {
  const read = entry.type === 'transcript.kept' ? readRunEntry(entry) : undefined;
  return read?.type === 'transcript.kept' ? read.body : undefined;
}

function hostIn(entry: Entry): string | undefined {
  const read = entry.type.startsWith('run.') ? readRunEntry(entry) : undefined;
  return read?.type === 'run.started' || read?.type === 'run.resumed' ? read.body.who?.host : undefined;
}
