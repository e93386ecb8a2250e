import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { changedInWords, checkEntries } from '../../audit/walk.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { openStoreOf } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { type OpenedStore, openChecked, workspaceOf } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { blocksOtherChanges } from '../../runner/assert-not-in-doubt.ts';
import { lostCallEntries } from '../../runner/lost-calls.ts';
import {
  type Hold,
  type Journal,
  type Json,
  LOG_STREAM,
  type NewEntry,
  type StoredEntry,
} from '../../store/journal.ts';
import type { Checked } from '../../store/log/check-log.ts';
import { detailsOf, inShort } from '../../store/log/explain-trouble.ts';
import { LOSS_ACCEPTED, markOf } from '../../store/log/log-entries.ts';
import { folderOf } from '../../store/log/places/folder-place.ts';
import type { LostCall, SeenCheckpoint, Trouble } from '../../store/log/rollback.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { custodyEntry, scheduledKeys } from '../../store/projections/custody.ts';
import { readLedgers } from '../../store/projections/ledgers.ts';
import { whoIs } from '../approvals/present.ts';
import { confirmTyped } from '../store/confirm.ts';

/** How many checkpoints of one place are compared with the store; a place is read for a few seconds only. */
const MAX_CHECKPOINTS = 4_096;
/** How many calls of one instance with a lost recorded outcome are named; older ones are only counted. */
const MAX_ENDED = 10;

/**
 * `lifeboat audit accept-loss --reason TEXT`: shows what is lost, and after a typed confirmation records the
 * loss and marks every call armed in it as in doubt, in one transaction: after a crash all or nothing is
 * stored. Old checkpoints stay. Exit 0 also without a loss; 3 if no person can confirm; 130 if the person
 * declines. Throws `journal.damaged` (exit 5) for a rewritten entry, which cannot be accepted.
 */
export const auditAcceptLossCommand: Action<{ readonly reason: string; readonly confirm?: string }> = async (
  context,
  _,
  flags,
) => {
  const reason = show(flags.reason.trim(), 500);
  if (reason === '') throw new LifeboatError('usage.reason', 'the reason is empty', { exitCode: EXIT.usage });
  const config = await loadConfig(context.env, context.configPath);
  const opened = await openChecked(context, {
    operator: config.operator.name,
    checkpoints: config.checkpoints,
    most: MAX_CHECKPOINTS,
  });
  const { trouble } = opened.checked;
  if (trouble === undefined) {
    await assertUnchanged(opened).finally(() => opened.journal?.close());
    await printResult(context, 'loss', { lost: false, inDoubt: [] }, () => {
      context.stderr.write(`nothing is lost: ${AGREES}\n`);
    });
    return EXIT.closed;
  }
  const left = await rowsLeft(opened.journal).finally(() => opened.journal?.close());
  if (trouble.store.isShared) await assertRecoverable(trouble, left);
  const who = whoIs(config, opened) as unknown as Json;
  const body = lossOf(trouble, { reason, who, gaps: left.gaps });
  await confirmLoss(context, trouble, body.calls.length, flags.confirm);
  const { operator, signer } = opened;
  // Projections may be newer than their entries if entries were removed by hand.
  const how = { afterLoss: opened.journal === undefined, rebuild: true, setBack: true };
  const journal = await openStoreOf(context, { by: operator, signer, ...how });
  let cancelled: readonly CancelledEnd[];
  try {
    cancelled = await scheduledEnds(journal);
    await writeLoss(
      journal,
      body,
      cancelled.map(({ entry }) => entry),
    );
  } catch (thrown) {
    await journal.close();
    throw await unwritten(thrown, trouble, left);
  }
  await sealAfter(context, { ...opened, journal }, journal);
  const inDoubt = new Set(body.calls.map(({ instance }) => instance));
  const aside = trouble.store.isGone ? await setAsideIn(opened.home) : undefined;
  await printResult(context, 'loss', { lost: true, inDoubt: [...inDoubt] }, () =>
    tellWhatFollows(context, { doubts: body.calls.length, instances: inDoubt, aside, cancelled }),
  );
  return EXIT.closed;
};

const AGREES = 'the journal agrees with its entries and with the checkpoints of every place';

async function confirmLoss(
  context: CommandContext,
  trouble: Trouble,
  doubts: number,
  given: string | undefined,
): Promise<void> {
  const { stderr } = context;
  stderr.write(`${show(inShort(trouble), 400)}\n`);
  for (const line of detailsOf(trouble)) stderr.write(`  ${show(line, 400)}\n`);
  const what = doubts === 0 ? 'no call' : counted(doubts, 'call');
  stderr.write(`accepting it puts ${what} in doubt, and every later report begins with it\n`);
  await confirmTyped(context, { word: wordOf(trouble), given, what: 'the loss' });
}

/** The name of the log that lost entries. */
function wordOf({ store, misfits }: Trouble): string {
  const gone = misfits.find(({ origin }) => origin !== store.origin)?.origin;
  return folderOf(gone ?? store.origin ?? 'lifeboat');
}

interface LossBody {
  readonly checkpoints: readonly {
    readonly place: string;
    readonly size: number;
    readonly root: string;
    readonly note: string;
  }[];
  readonly calls: readonly LostCall[];
  readonly rest: Readonly<Record<string, Json>>;
}

function lossOf(trouble: Trouble, by: Pick<LossBody['rest'], 'reason' | 'who' | 'gaps'>): LossBody {
  const { store, misfits } = trouble;
  const furthest = furthestOf(misfits);
  const also = misfits.filter((one) => one.origin === store.origin && !furthest.includes(one)).map(markOf);
  const calls = callsToDoubt(trouble.calls);
  const { count, end, rowsAccepted } = store;
  return {
    checkpoints: furthest.map(({ place, size: at, root, note }) => ({ place, size: at, root, note })),
    calls,
    rest: {
      ...by,
      size: end,
      also: [...new Set(also)].slice(0, MAX_CHECKPOINTS),
      rowsMissing: Math.max(0, end - rowsAccepted - count),
      callsLeftOut: trouble.calls.length - calls.length + trouble.unnamed,
    },
  };
}

/** The checkpoint that reaches furthest, for each place and log. */
function furthestOf(misfits: readonly SeenCheckpoint[]): readonly SeenCheckpoint[] {
  const groups = Map.groupBy(misfits, ({ place, origin }) => `${origin} ${place}`);
  return [...groups.values()].flatMap((group) =>
    group.toSorted((one, other) => other.size - one.size).slice(0, 1),
  );
}

/**
 * All open calls, and of those whose outcome was on record the newest of each instance: a person may repeat
 * them. An extra backup needs no answer.
 */
function callsToDoubt(calls: readonly LostCall[]): readonly LostCall[] {
  const usable = calls.filter(({ instance }) => isStreamName(`instance/${instance}`));
  const ended = Map.groupBy(
    usable.filter((call) => !call.isOpen && blocksOtherChanges(call)),
    ({ instance }) => instance,
  );
  const newest = new Set([...ended.values()].flatMap((group) => group.slice(-MAX_ENDED)));
  return usable.filter((call) => call.isOpen || newest.has(call));
}

/** The destruction of a key that is cancelled, and the entry that does it. */
interface CancelledEnd {
  readonly instance: string;
  readonly fingerprint: string;
  readonly entry: NewEntry;
}

/** Cancels every scheduled destruction of a key: that it was cancelled before may be in the lost part. */
async function scheduledEnds(journal: Journal): Promise<readonly CancelledEnd[]> {
  const reason = 'entries of the journal were lost: a cancellation may be among them';
  return (await readLedgers(journal)).flatMap(([instance, { custody }]) =>
    scheduledKeys(custody).map(({ fingerprint }) => ({
      instance,
      fingerprint,
      entry: custodyEntry(instance, 'custody.cancelled', { fingerprint, reason }),
    })),
  );
}

async function writeLoss(
  journal: Journal,
  { checkpoints, calls, rest }: LossBody,
  cancelled: readonly NewEntry[],
): Promise<void> {
  const named = calls.map(({ stream, instance, verb, intent, at }) => ({
    stream,
    instance,
    verb,
    intent,
    at,
  }));
  const body = { ...rest, checkpoints: [...checkpoints], calls: named } as Json;
  const entries: NewEntry[] = [{ stream: LOG_STREAM, type: LOSS_ACCEPTED, body }, ...cancelled];
  for (const call of calls) entries.push(...lostCallEntries(call, await journal.read(call.stream)));
  const holds: Hold[] = [];
  try {
    const ledgers = calls.map(({ instance }): NewEntry['stream'] => `instance/${instance}`);
    for (const ledger of [...new Set([...ledgers, ...cancelled.map(({ stream }) => stream)])].sort())
      holds.push(await journal.hold(ledger));
    await journal.append(entries, holds);
  } finally {
    for (const hold of holds) await hold.release();
  }
}

/** Adds the first checkpoint after the loss to every place, and keeps the old ones. */
async function sealAfter(context: CommandContext, opened: OpenedStore, journal: Journal): Promise<void> {
  const { checkLog } = await import('../../store/log/check-log.ts');
  const { signer, places } = opened;
  const options = { ownKey: signer.publicKey, ...(await checkedAs(context)) };
  const unsealed = await checkLog(journal, places, options);
  const workspace = await workspaceOf(context, { ...opened, checked: unsealed }, journal);
  try {
    await workspace.sealer.sealNow();
    const checked: Checked = await checkLog(journal, places, { ...options, most: MAX_CHECKPOINTS });
    if (checked.trouble !== undefined) {
      context.stderr.write(`still: ${show(inShort(checked.trouble), 400)}\n`);
      context.stderr.write('hint: run the same command again\n');
    }
  } finally {
    await workspace.close();
  }
}

/** Where an unreadable old journal is kept: nothing of it is deleted. */
async function setAsideIn(home: string): Promise<string | undefined> {
  const left = (await readdir(home)).filter((name) => /^lifeboat\.db\.lost-\d+$/u.test(name));
  const newest = left.sort().at(-1);
  return newest === undefined ? undefined : join(home, newest);
}

interface Accepted {
  readonly doubts: number;
  readonly instances: ReadonlySet<string>;
  readonly aside: string | undefined;
  readonly cancelled: readonly CancelledEnd[];
}

function tellWhatFollows(
  { stdout }: CommandContext,
  { doubts, instances, aside, cancelled }: Accepted,
): void {
  if (aside !== undefined) stdout.write(`the rest of the old journal is in ${show(aside, 300)}\n`);
  stdout.write(`accepted: ${counted(doubts, 'call')} in doubt\n`);
  for (const { instance, fingerprint } of cancelled)
    stdout.write(
      `cancelled: the destruction of key ${fingerprint} of ${show(instance)}, which was scheduled\n`,
    );
  for (const name of [...instances].sort())
    stdout.write(
      `${show(name)}: until it is known what became of them, it is not changed: lifeboat runs --in-doubt\n`,
    );
}

/** Its original text is unknown: nothing could be marked as in doubt. */
async function assertUnchanged({
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
async function assertRecoverable(trouble: Trouble, left: RowsLeft): Promise<void> {
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

/** Nothing can be signed after a missing leaf at the end: a team's database continues before the last gap. */
async function unwritten(
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
interface RowsLeft {
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
async function rowsLeft(journal: Pick<Journal, 'log'> | undefined): Promise<RowsLeft> {
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
