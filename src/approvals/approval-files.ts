import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { dropLink, readPlainFile, whyUnread } from '../base/bounded-file.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import type { ApprovalPolicy } from '../store/run-entries.ts';
import { isKeyList, lineHash, namesIn, signerLines, withoutMark } from './allowed-signers.ts';
import { MAX_CHALLENGE_BYTES } from './challenge.ts';
import { fingerprintOfBlob, sshKeygen } from './ssh-signature.ts';
import { readSigners } from './verify-signature.ts';

/** The files of one challenge, for people to carry around. The journal is authoritative. */
export interface ApprovalPaths {
  readonly challenge: string;
  /** Beside it, with the name that `ssh-keygen -Y sign` gives it. */
  readonly signature: string;
  /** Exists if the approval was withdrawn: the reason. */
  readonly withdrawn: string;
}

/** Paths below a home; creates nothing. */
export function approvalPaths(home: string, run: string, challenge: string): ApprovalPaths {
  if (!/^[A-Za-z0-9-]+$/.test(run) || !/^[0-9a-f]{16}$/.test(challenge))
    throw new Error('a run and a challenge have names that fit into a path');
  const path = join(home, 'approvals', run, `${challenge}.txt`);
  return { challenge: path, signature: `${path}.sig`, withdrawn: `${path}.withdrawn` };
}

/**
 * Writes the challenge for people to take away: mode 0600 in a folder of mode 0700. Throws errors of the
 * disk.
 */
export function writeChallenge(path: string, text: string): void {
  makeFolderInside(homeOf(path), dirname(path));
  dropLink(path);
  writeFileAtomic.sync(path, text, { mode: 0o600 });
}

/** The home of a file of `approvalPaths`. */
function homeOf(path: string): string {
  return dirname(dirname(dirname(path)));
}

/** Writes a file beside a challenge, atomically. */
export async function writeBeside(path: string, text: string): Promise<void> {
  makeFolderInside(homeOf(path), dirname(path));
  dropLink(path);
  await writeFileAtomic(path, text, { mode: 0o600 });
}

/**
 * The text of a small file; undefined if there is none. Throws `approval.refused` for anything else at the
 * path.
 */
export function readIfThere(path: string): string | undefined {
  try {
    return readPlainFile(path, MAX_CHALLENGE_BYTES).toString('utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LifeboatError('approval.refused', `${show(path)} cannot be read: ${whyUnread(cause)}`, {
      hints: ['nothing was sent', 'remove what is there'],
      cause,
    });
  }
}

/** A stamp that changes whenever one of the files does. */
export function stampOf(paths: readonly (string | undefined)[]): string {
  return paths.map((path) => (path === undefined ? '' : oneStamp(path))).join(' ');
}

function oneStamp(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? '-' : `${found.ino}:${found.size}:${found.mtimeNs}`;
}

type Kept<Name extends 'signers' | 'revoked'> = NonNullable<ApprovalPolicy[Name]>;

/** The number of people that a report names. */
const MAX_PEOPLE = 100;
/** Well within the size of a journal entry. */
const MAX_LINES = 10_000;

/** What the record keeps of an allowed-signers file; if it cannot be read, why. */
export async function keptSigners(path: string): Promise<Kept<'signers'>> {
  try {
    const bytes = await readSigners(path, 'file of allowed signers');
    const lines = signerLines(withoutMark(bytes).toString('utf8'));
    const people = lines.slice(0, MAX_PEOPLE).map((line) => ({
      names: show(namesIn(line).join(','), 200),
      key: fingerprintIn(line),
    }));
    return { sha256: hash('sha256', bytes, 'hex'), lines: keptLines(lines, path), people };
  } catch (thrown) {
    return { ...unread(thrown), people: [] };
  }
}

/**
 * As `keptSigners`, for a file of revoked keys: the lines of a text, or those that `ssh-keygen -Q -l` prints
 * for a key revocation list. If it cannot print them, the only line is the file itself, so that any other
 * file appears to lack it.
 */
export async function keptRevoked(path: string): Promise<Kept<'revoked'>> {
  try {
    const bytes = await readSigners(path, 'file of revoked keys');
    const sha256 = hash('sha256', bytes, 'hex');
    const lines = isKeyList(bytes)
      ? ((await shownLines(path)) ?? [sha256])
      : signerLines(withoutMark(bytes).toString('utf8'));
    return { sha256, lines: keptLines(lines, path) };
  } catch (thrown) {
    return unread(thrown);
  }
}

async function shownLines(path: string): Promise<readonly string[] | undefined> {
  const shown = await sshKeygen(['-Q', '-l', '-f', path], '').catch(() => undefined);
  if (shown?.code !== 0 || shown.stdout.length > MAX_SHOWN) return undefined;
  return shown.stdout.split('\n').filter((line) => line !== '' && !STAMP.test(line));
}

function unread(thrown: unknown) {
  return { sha256: '', lines: [], problem: failureOf(thrown).shortMessage };
}

const STAMP = /^# (?:KRL version|Generated at|Comment)/;
/** Less than `sshKeygen` keeps of an output. */
const MAX_SHOWN = 60_000;

function keptLines(lines: readonly string[], path: string): string[] {
  if (lines.length <= MAX_LINES) return lines.map(lineHash);
  throw new LifeboatError('approval.unchecked', `${show(path)} has more than ${MAX_LINES} lines`, {
    hints: ['nothing was sent'],
  });
}

function fingerprintIn(line: string): string {
  const blob = line.split(/\s+/).find((word) => word.startsWith('AAAA'));
  return blob === undefined ? '' : fingerprintOfBlob(blob);
}
