import { statSync } from 'node:fs';
import { LifeboatError } from '../../base/errors.ts';

/**
 * Gives a check, for after each commit, that the database and its write-ahead log are still the files that
 * were opened. SQLite keeps on writing into files that somebody has deleted or replaced, and says nothing;
 * entries in them are lost. The check throws `journal.lost`. It costs two stat calls, a few microseconds.
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

/** Which file a path leads to; `missing` for none. */
export function identity(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'missing' : `${stat.dev}:${stat.ino}`;
}
