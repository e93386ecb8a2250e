import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { configuredPlaces } from '../../compose/checkpoint-places.ts';
import { lackOfConfig, unshared } from '../../compose/shared-place.ts';
import { openJournalIfAny, unheard } from '../../compose/store-of.ts';
import { openWorkspace } from '../../compose/workspace.ts';
import type { CheckpointConfig } from '../../config/loaded.ts';
import { checkedStore, isPostgres } from '../../config/store-address.ts';
import { type Journal, type JournalReader, LOG_STREAM } from '../../store/journal.ts';
import { STORE_MOVED, StoreArrived } from '../../store/log/log-entries.ts';
import { hearLog, NOTHING_SAID } from '../../store/log/named-keys.ts';
import { rootOfEntries } from '../../store/moving.ts';
import { confirmTyped } from './confirm.ts';
import { type StoreSide, sideOf } from './side.ts';

interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly confirm?: string;
}

/**
 * `lifeboat store copy --from STORE --to STORE`: moves all entries into an empty store, leaf by leaf, so that
 * every earlier checkpoint and anchor still holds. First the source records, as its last entry, that it was
 * moved, and from then on no process writes to it; then everything is written to the target in one
 * transaction. If the process dies in between, the same command continues.
 */
export const storeCopy: Action<CopyFlags> = async (context, _, flags) => {
  const [source, target] = sidesOf(context, flags);
  const checkpoints = await configuredPlaces(context);
  assertShared(context, flags, checkpoints);
  await assertNotHeld(source);
  const size = await lookAt(source, target);
  context.stderr.write(`${size} entries from ${show(source.shown)} to ${show(target.shown)}\n`);
  context.stderr.write(
    'the source takes no more entries afterwards; it stays where it is, and can be read\n',
  );
  await confirmTyped(context, { word: String(size), given: flags.confirm, what: 'the copy' });
  await leave(source, target, checkpoints);
  const { createSigner } = await import('../../store/log/signer.ts');
  const { openKeys, loginName } = await import('../../compose/workspace.ts');
  const signer = createSigner(await (await openKeys(context)).signingKey());
  const from = await source.from();
  try {
    const arrival = {
      at: new Date().toISOString(),
      by: loginName(context.env),
      signer,
      body: StoreArrived.parse({ from: source.shown }),
    };
    await target.land(from, arrival);
  } finally {
    await from.close();
  }
  const head = await compare(source, target);
  // Opening and closing it leaves a checkpoint of the new head in every place.
  await (await openWorkspace(target.context, { checkpoints, sharedPlace: 'begun' })).close();
  const { size: copied, root } = head;
  const moved = { from: source.shown, to: target.shown, size: copied, root };
  await printResult(context, 'store-copy', moved, () => {
    context.stdout.write(
      `${copied} entries copied, root ${root}: the log goes on in ${show(target.shown)}\n`,
    );
  });
  context.stderr.write(`hint: set \`store: ${flags.to}\` in lifeboat.yaml, or LIFEBOAT_STORE\n`);
  return EXIT.closed;
};

function sidesOf(context: CommandContext, { from, to }: CopyFlags): readonly [StoreSide, StoreSide] {
  const source = sideOf(context, checkedStore(from, '--from'));
  const target = sideOf(context, checkedStore(to, '--to'));
  if (source.shown !== target.shown) return [source, target];
  throw new LifeboatError('store.same', 'the two stores are the same one', {
    exitCode: EXIT.usage,
  });
}

/** Checked first, so that nothing is moved that could not be used afterwards. */
function assertShared(
  { alone }: CommandContext,
  { from, to }: CopyFlags,
  checkpoints: readonly CheckpointConfig[],
): void {
  const lack = isPostgres(from) || isPostgres(to) ? lackOfConfig(checkpoints) : undefined;
  if (lack !== undefined && alone === undefined) throw unshared(lack);
}

async function assertNotHeld(source: StoreSide): Promise<void> {
  const [holder] = await source.holders();
  if (holder === undefined) return;
  throw new LifeboatError('journal.held', `the store to copy from is in use: ${show(holder, 200)}`, {
    hints: [
      'nothing was copied',
      'wait until that process has ended, or end it: its run can be resumed in the other store',
    ],
  });
}

/** Entries to copy. Rejects for an empty source, or a target with entries. */
async function lookAt(source: StoreSide, target: StoreSide): Promise<number> {
  // A copy needs an empty store, so do not warn that the home knows the log of another one.
  const [one, other] = [
    await openJournalIfAny(source.context),
    await openJournalIfAny(unheard(target.context)),
  ];
  try {
    const size = (await one?.log.head())?.size ?? 0;
    if (one === undefined || size === 0)
      throw new LifeboatError('store.empty', `there is nothing to copy in ${show(source.shown)}`, {
        exitCode: EXIT.usage,
      });
    if (other !== undefined) await assertSame(one, other, target);
    return size;
  } finally {
    await one?.close();
    await other?.close();
  }
}

/** A store may return to where it was moved away from; any other store with entries holds another log. */
async function assertSame(source: JournalReader, target: JournalReader, { shown }: StoreSide): Promise<void> {
  const { size, root } = await target.log.head();
  if (size === 0) return;
  const { movedTo } = hearLog(NOTHING_SAID, await target.read(LOG_STREAM));
  const isBeginning = (await source.log.head()).size >= size && (await source.log.rootAt(size)) === root;
  if (movedTo !== undefined && isBeginning) return;
  throw new LifeboatError('store.not-empty', `${show(shown)} holds ${size} entries already`, {
    hints: ['nothing was copied: two logs cannot become one', 'name an empty one'],
    exitCode: EXIT.usage,
  });
}

/** The source's last entry, unless an interrupted copy to this target wrote it. */
async function leave(
  source: StoreSide,
  target: StoreSide,
  checkpoints: readonly CheckpointConfig[],
): Promise<void> {
  const before = await movedTo(source);
  if (before === target.shown) return;
  const workspace = await openWorkspace(source.context, { checkpoints });
  try {
    await append(workspace.journal, target);
  } finally {
    await workspace.close();
  }
}

async function append(journal: Journal, { shown }: StoreSide): Promise<void> {
  await journal.append([{ stream: LOG_STREAM, type: STORE_MOVED, body: { to: shown } }], []);
}

async function movedTo(source: StoreSide): Promise<string | undefined> {
  const reader = await openJournalIfAny(source.context);
  try {
    return hearLog(NOTHING_SAID, (await reader?.read(LOG_STREAM)) ?? []).movedTo;
  } finally {
    await reader?.close();
  }
}

/** Recomputes the target's tree from its entries, and compares it with the source. */
async function compare(
  source: StoreSide,
  target: StoreSide,
): Promise<{ readonly size: number; readonly root: string }> {
  const [one, other] = [await openJournalIfAny(source.context), await openJournalIfAny(target.context)];
  try {
    const head = await one?.log.head();
    if (head === undefined || other === undefined) throw new Error('a store is gone');
    const { size, root } = head;
    const isSame =
      (await rootOfEntries(other.log.stored(), size)) === root && (await other.log.rootAt(size)) === root;
    if (isSame) return { size, root };
    throw new LifeboatError('journal.damaged', 'what was copied does not match the root of the source', {
      hints: ['do not use the copy', 'this is a bug in lifeboat: please report it'],
    });
  } finally {
    await one?.close();
    await other?.close();
  }
}
