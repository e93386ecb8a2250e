import type { RunContext } from '../context.ts';
import { partOfFollowUpsFallback } from '../fallback/follow-ups.ts';
import { backup } from './backup.ts';
import type { Phase } from './phase.ts';

interface Fresh {
  readonly on?: 'target';
  readonly when?: (context: RunContext) => boolean;
  readonly onDone: string;
}

/** A backup of the restored data: what was there before belongs to another past. */
export function freshBackup({ on, when, onDone }: Fresh): Phase {
  return backup({
    title: 'back up the restored data',
    task: 'fresh',
    what: 'the restored data',
    on,
    slice: 'rebind',
    closes: 'fresh-backup',
    without: { hint: 'until the next scheduled backup the restored data cannot be brought back' },
    needs: 'the restore is done and the instance is available',
    when,
    fallback: partOfFollowUpsFallback,
    onDone,
  });
}
