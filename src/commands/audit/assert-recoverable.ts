import { changedInWords, checkEntries } from '../../audit/walk.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { OpenedStore } from '../../compose/workspace.ts';
import type { Journal, StoredEntry } from '../../store/journal.ts';
import { detailsOf, inShort } from '../../store/log/explain-trouble.ts';
import type { Trouble } from '../../store/log/rollback.ts';

/* Losses that cannot be accepted, because nothing could be signed on top of them. */

/** The original text of a rewritten entry is unknown, so there is nothing to mark as in doubt. */
export async function assertUnchanged({
  journal,
  checked,
}: Pick<OpenedStore, 'journal' | 'checked'>): Promise<void> {
  if (journal === undefined) return;
  const { problems } = await checkEntries(journal.log, { losses: checked.losses });
  if (problems.length === 0) return;
  throw new LifeboatError(
    'journal.damaged',
    `no entry is lost, but some are not as they were signed: ${changedInWords(problems)}`,
    {
      hints: [
        'nothing was written: a loss can be accepted, a changed entry cannot',
        'to see all that is wrong: `lifeboat audit verify`',
        ...(checked.store.isShared
          ? ['the owner of the database puts it back from the newest backup', ANOTHER_DATABASE]
          : ['put lifeboat.db and lifeboat.db-wal back from the newest copy', ANOTHER_FILE]),
      ],
      evidence: { problems: problems.length },
      exitCode: EXIT.inDoubt,
    },
  );
}

/**
 * A team's database stores the rows of an append before they are signed: rows that could not be signed would
 * stay there, and become part of the log when the database is repaired.
 */
export async function assertRecoverable(trouble: Trouble, left: RowsLeft): Promise<void> {
  const { kinds, store } = trouble;
  if (left.end >= store.size && left.stray.length === 0 && !kinds.includes('unsigned')) return;
  const { setBackSql } = await import('../../store/postgres/log.ts');
  const canBeSet = left.end < store.size || left.stray.length > 0;
  throw hopeless(trouble, canBeSet ? setBackSql(left.end, left.stray) : []);
}

/** `sql`: what the owner of a team's database can run, if anything. */
function hopeless(trouble: Trouble, sql: readonly string[]): LifeboatError {
  const fix = 'or its owner drops what cannot be signed again, in psql, and you run this command again:';
  return new LifeboatError(
    'journal.damaged',
    `the journal cannot be signed any further: ${show(inShort(trouble), 400)}`,
    {
      hints: [
        ...detailsOf(trouble),
        'nothing was written: the owner of the database puts it back from the newest backup',
        ...(sql.length === 0 ? [] : [fix, ...sql]),
        ANOTHER_DATABASE,
      ],
      evidence: { kinds: [...trouble.kinds] },
      exitCode: EXIT.inDoubt,
    },
  );
}

/**
 * The message for a tree whose end depends on a missing leaf, so that nothing can be signed after it: a
 * team's database continues before the last gap.
 */
export async function unwritten(
  thrown: unknown,
  trouble: Trouble,
  { gaps, stray, end }: RowsLeft,
): Promise<unknown> {
  if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.damaged') return thrown;
  if (trouble.store.isShared) {
    const { setBackSql } = await import('../../store/postgres/log.ts');
    return hopeless(trouble, setBackSql(gaps.at(-1)?.[0] ?? end, stray));
  }
  return new LifeboatError('journal.damaged', thrown.shortMessage, {
    hints: [
      'nothing was written: this database cannot be used any more; restore it from a copy',
      ANOTHER_FILE,
    ],
    evidence: { kinds: [...trouble.kinds] },
    cause: thrown,
  });
}

const ANOTHER_DATABASE =
  'or start again: name an empty database (`store` in lifeboat.yaml, or LIFEBOAT_STORE), ' +
  'run `lifeboat store init` and this command: its journal names this one';
const ANOTHER_FILE =
  'or move lifeboat.db and lifeboat.db-wal away and run this command again: a new journal begins, and names this one';

/** What remains of a store that lost entries. */
export interface RowsLeft {
  /** One more than the number of the last leaf. */
  readonly end: number;
  /** The missing leaves before that, in ranges. */
  readonly gaps: readonly (readonly [first: number, last: number])[];
  /** Rows without a leaf that no writer of this log wrote in their present form. */
  readonly stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[];
}

/** Further ranges are not recorded, and remain a finding of every audit. */
const MAX_GAPS = 4_096;
const MAX_STRAY = 1_000;

/** Reads all entries once: the counts of a store that lost entries cannot be trusted. */
export async function rowsLeft(journal: Pick<Journal, 'log'> | undefined): Promise<RowsLeft> {
  const gaps: [number, number][] = [];
  const stray: Pick<StoredEntry, 'stream' | 'seq'>[] = [];
  let end = 0;
  if (journal === undefined) return { end, gaps, stray };
  for await (const { index, stream, seq } of journal.log.stored()) {
    if (index < 0 && stray.length < MAX_STRAY) stray.push({ stream, seq });
    if (index > end && gaps.length < MAX_GAPS) gaps.push([end, index - 1]);
    end = Math.max(end, index + 1);
  }
  return { end, gaps, stray };
}
