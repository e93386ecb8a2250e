import { counted } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Log } from '../store/journal.ts';
import type { Loss } from '../store/log/losses.ts';
import { createFindings, type Finding } from './verdict.ts';
import { createWalk } from './walk.ts';

export interface CheckedEntries {
  /** How many entries were hashed. */
  readonly checked: number;
  /** How many older ones were not read. */
  readonly unread: number;
  readonly problems: readonly Finding[];
}

export interface CheckEntriesOptions {
  /** The losses that a person accepted. */
  readonly losses?: readonly Loss[];
  /** Read only this many of the newest entries; all by default. */
  readonly newest?: number;
}

/**
 * Hashes entries and compares them with the stored tree: finds entries rewritten in place, which change
 * neither their number nor the signed head. A full audit does this too, and also checks checkpoints, keys and
 * transcripts. Only reads; rejects with the log's errors.
 */
export async function checkEntries(
  log: Pick<Log, 'head' | 'stored'>,
  { losses = [], newest = Number.POSITIVE_INFINITY }: CheckEntriesOptions = {},
): Promise<CheckedEntries> {
  const findings = createFindings();
  const { size, root } = await log.head();
  const gaps = losses.flatMap((loss) => loss.gaps);
  const unread = Math.max(0, size - newest);
  // An accepted loss may extend beyond the first requested entry.
  const from = gaps.reduce((at, [first, last]) => (first <= at && at <= last ? last + 1 : at), unread);
  const before = from === 0 ? [] : [[0, from - 1] as [number, number]];
  const walk = createWalk(
    { sizes: new Set(), demandedBelow: 0, gaps: [...before, ...gaps], onEntry: () => undefined },
    findings,
  );
  if (from < size)
    for await (const entry of log.stored(from)) {
      walk.take(entry);
      if (walk.size() >= size) break;
    }
  walk.finish();
  const here = walk.size() === size ? walk.root() : undefined;
  if (here !== undefined && here !== root)
    findings.problem('head.other', `${counted(size, 'entry', 'entries')} do not match the root of the log`);
  return {
    checked: Math.max(0, walk.size() - walk.lost()),
    unread,
    problems: findings.list().filter(({ severity }) => severity === 'problem'),
  };
}

/** The first of several problems, and how many more there are. */
export function changedInWords([first, ...more]: readonly Finding[]): string {
  const where = first?.stream === undefined ? '' : `${first.stream}: `;
  return show(`${where}${first?.shortMessage}${more.length > 0 ? `, and ${more.length} more` : ''}`, 300);
}
