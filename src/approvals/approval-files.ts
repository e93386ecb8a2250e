import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { dropLink, readPlainFile, whyUnread } from '../base/bounded-file.ts';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import { MAX_CHALLENGE_BYTES } from './challenge.ts';

/** The files of one challenge, for people to carry around. The journal is authoritative. */
export interface ApprovalPaths {
  readonly challenge: string;
  /** Beside it, with the name that `ssh-keygen -Y sign` gives it. */
  readonly signature: string;
  /** Exists if the approval was withdrawn: the reason. */
  readonly withdrawn: string;
}

/** Creates nothing. */
export function approvalPaths(home: string, run: string, challenge: string): ApprovalPaths {
  if (!/^[A-Za-z0-9-]+$/.test(run) || !/^[0-9a-f]{16}$/.test(challenge))
    throw new Error('a run and a challenge have names that fit into a path');
  const path = join(home, 'approvals', run, `${challenge}.txt`);
  return { challenge: path, signature: `${path}.sig`, withdrawn: `${path}.withdrawn` };
}

/** Writes a challenge for people to take along: mode 0600, folder 0700. Throws errors of the disk. */
export function writeChallenge(path: string, text: string): void {
  makeFolderInside(homeOf(path), dirname(path));
  dropLink(path);
  writeFileAtomic.sync(path, text, { mode: 0o600 });
}

function homeOf(path: string): string {
  return dirname(dirname(dirname(path)));
}

/** Writes a file beside a challenge, atomically. */
export async function writeBeside(path: string, text: string): Promise<void> {
  makeFolderInside(homeOf(path), dirname(path));
  dropLink(path);
  await writeFileAtomic(path, text, { mode: 0o600 });
}

/** Undefined if there is no file. Throws `approval.refused` for anything else that cannot be read. */
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
