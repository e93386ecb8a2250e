import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Checkpoint, readCheckpoint } from '../store/log/checkpoint.ts';
import type { Audit, AuditOptions } from './audit-report.ts';
import { readNotes, readPublicKeys } from './checkpoint-files.ts';

/** What a further folder holds of an installation that this audit does not know the key of. */
interface Stranger {
  readonly installation: string;
  readonly folder: string;
  /** Those that its own key has signed. */
  readonly checkpoints: readonly Checkpoint[];
}

/** Signed heads in the further folders that no known key has signed, by the installation whose folder they lie in. */
export function readStrangers(
  { folders = [], stream }: Pick<AuditOptions, 'folders' | 'stream'>,
  known: ReadonlySet<string>,
): readonly Stranger[] {
  return folders.flatMap((folder) =>
    installationsIn(folder)
      .filter((installation) => !known.has(installation))
      .map((installation) => {
        const root = join(folder, `lifeboat-${installation}`);
        const keys = readPublicKeys(root);
        const checkpoints = readNotes(root, stream).flatMap((file) => {
          const read = readCheckpoint(file.note ?? '', keys);
          return read.result === 'signed' && read.checkpoint.stream === file.stream ? [read.checkpoint] : [];
        });
        return { installation, folder, checkpoints };
      }),
  );
}

/**
 * A journal that was written anew and signed with another key looks like that of another installation, but its runs still have their names. So whoever has signed a
 * run of this journal under another key has to have seen what stands here. Other installations, which share the folder and perhaps an instance, have runs of
 * their own.
 */
export function auditStrangers(db: DatabaseSync, strangers: readonly Stranger[], audit: Audit): void {
  const entry = db.prepare('SELECT hash FROM entries WHERE stream = ? AND seq = ?');
  const exists = db.prepare('SELECT 1 FROM entries WHERE stream = ? LIMIT 1');
  for (const { installation, folder, checkpoints } of strangers) {
    const isHere = ({ stream }: Checkpoint) => stream.startsWith('run/') && exists.get(stream) !== undefined;
    if (!checkpoints.some(isHere)) continue;
    for (const { stream, seq, hash } of checkpoints) {
      if (seq === 0 || entry.get(stream, seq)?.['hash'] === hash) continue;
      const message = `entry ${seq} is not the one that another key has signed: see lifeboat-${installation} in ${folder}`;
      audit.problem('checkpoint.other-key', message, { stream, seq });
    }
  }
}

function installationsIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => /^lifeboat-([0-9a-f]{16})$/u.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
