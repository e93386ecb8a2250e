import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import type { JournalReader, StreamName } from '../../store/journal.ts';
import { isStreamName } from '../../store/new-entry.ts';

/**
 * Removes what the bindings of closed runs were made with: until a run is closed its applications may have to
 * be bound again with it, afterwards nobody needs it, and it may hold secrets. A process that dies before
 * leaves it to the next run that ends here. A file that cannot be removed stays, readable by its owner alone.
 */
export async function forgetParameters(home: string, journal: JournalReader): Promise<void> {
  const folder = join(home, 'backups', 'bindings');
  for (const name of namesIn(folder)) {
    const stream = `run/${name}`;
    if (!isStreamName(stream) || !(await isClosed(journal, stream))) continue;
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // The next run tries again.
    }
  }
}

async function isClosed(journal: JournalReader, stream: StreamName): Promise<boolean> {
  const entries = await journal.read(stream);
  return entries.some(({ type }) => type === 'run.closed');
}
