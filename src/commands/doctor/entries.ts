import { type CheckedEntries, changedInWords, checkEntries } from '../../audit/check-entries.ts';
import type { Log } from '../../store/journal.ts';
import type { Loss } from '../../store/log/losses.ts';
import { attempt, type Check, good } from './check.ts';

/** Entries that are hashed each time: a tenth of a second, and all there is in most homes. */
const NEWEST = 10_000;

/**
 * Whether the entries still give what was signed over them: a count and a signed head do not show that one
 * was rewritten in its place. The newest 10,000 are hashed anew, all of them where `deep` is asked for.
 */
export async function entriesCheck(
  log: Pick<Log, 'head' | 'stored'>,
  losses: readonly Loss[],
  deep: boolean,
): Promise<Check[]> {
  const found = await attempt('entries', () =>
    checkEntries(log, { losses, ...(deep ? {} : { newest: NEWEST }) }),
  );
  return 'check' in found ? [found.check] : inCheck(found.value);
}

function inCheck({ checked, unread, problems }: CheckedEntries): Check[] {
  if (problems.length > 0)
    return [
      {
        what: 'entries',
        state: 'bad',
        found: changedInWords(problems),
        hints: [
          'all that is wrong: `lifeboat audit verify`',
          'nothing can make up for a changed entry: put the journal back from a copy',
        ],
      },
    ];
  if (checked === 0) return [];
  const words = 'hashed anew: they are as they were signed';
  if (unread === 0) return [good('entries', `all ${checked} were ${words}`)];
  return [
    good('entries', `the newest ${checked} were ${words}; ${unread} older ones: lifeboat doctor --deep`),
  ];
}
