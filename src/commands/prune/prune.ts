import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { counted, formatBytes, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { isForPeople, printResult, printTable } from '../../cli/print-result.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { homeFolder } from '../../config/find.ts';
import { checkLog } from '../../store/log/check-log.ts';
import { rolledBack } from '../../store/log/explain-trouble.ts';
import { homePlace } from '../../store/log/places/folder-place.ts';
import { confirmTyped } from '../store/confirm.ts';
import { findDownloads, findDrills, findHomes, type Removable } from './find-removable.ts';

interface PruneFlags {
  readonly olderThan: string;
  readonly drills?: boolean;
  readonly downloads?: boolean;
  readonly homes?: boolean;
  readonly yes?: boolean;
}

/**
 * `lifeboat prune`: shows what may be removed and its size, then removes it when a person has typed `remove`,
 * or with `--yes`. Never removes proof of something still in force, or any part of the journal, whose log
 * only grows. Rejects with `journal.rolled-back` (exit 5) if the journal lacks signed entries: then it is
 * unknown what is in force. What cannot be removed stays, and the exit code is 1.
 */
export const prune: Action<PruneFlags> = async (context, _, flags) => {
  const beforeMs = Date.now() - durationFrom(flags.olderThan, 'older-than');
  const all = await findAll(context, flags, beforeMs);
  for (const { path, stays } of all)
    if (stays !== undefined) context.stderr.write(`${show(path, 300)} stays: ${stays}\n`);
  const found = all.filter(({ stays }) => stays === undefined);
  const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
  if (isForPeople(context)) showFound(context, found, bytes);
  if (found.length > 0)
    await confirmTyped(context, {
      word: 'remove',
      given: flags.yes ? 'remove' : undefined,
      what: 'the removal',
      area: 'prune',
      flag: '--yes',
    });
  const problems = new Map(found.flatMap((one) => removeOne(context, one)));
  const items = found.map(({ kind, path, what, at, bytes: size }) => {
    return { kind, path, what, at, bytes: size, problem: problems.get(path) };
  });
  await printResult(context, 'prune', { bytes, items }, () => {
    const removed = found.length - problems.size;
    if (removed > 0) context.stdout.write(`removed: ${counted(removed, 'item')}\n`);
  });
  return problems.size === 0 ? EXIT.closed : EXIT.failed;
};

async function findAll(
  context: CommandContext,
  flags: PruneFlags,
  beforeMs: number,
): Promise<readonly Removable[]> {
  const isAll = [flags.drills, flags.downloads, flags.homes].every((named) => named !== true);
  const found: Removable[] = [];
  if (isAll || flags.drills) found.push(...findDrills(context, beforeMs));
  if (isAll || flags.downloads) found.push(...(await downloadsOf(context, beforeMs)));
  if (isAll || flags.homes) found.push(...(await findHomes(context, beforeMs)));
  return found;
}

/** A home without a journal keeps its downloads: nothing tells what they are for. */
async function downloadsOf(context: CommandContext, beforeMs: number): Promise<readonly Removable[]> {
  const { env } = context;
  const home = homeFolder(env);
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return [];
  try {
    const { trouble } = await checkLog(journal, [homePlace(home)], {
      ...(await checkedAs(context)),
      most: 1,
    });
    if (trouble !== undefined) throw rolledBack(trouble);
    return await findDownloads(journal, home, beforeMs);
  } finally {
    await journal.close();
  }
}

function showFound(context: CommandContext, found: readonly Removable[], bytes: number): void {
  if (found.length === 0) {
    context.stderr.write('there is nothing that may be removed\n');
    return;
  }
  printTable(
    context,
    [
      { title: 'kind' },
      { title: 'what', gives: true },
      { title: 'from (UTC)' },
      { title: 'size', align: 'right' },
      { title: 'path', gives: 'start' },
    ],
    found.map(({ kind, what, at, bytes: size, path }) => [
      kind,
      what,
      formatTime(at),
      formatBytes(size),
      path,
    ]),
  );
  context.stdout.write(`may be removed: ${counted(found.length, 'item')}, ${formatBytes(bytes)}\n`);
}

/** Removes one; on failure, reports the error and returns it with the path. */
function removeOne({ stderr }: CommandContext, { path, remove }: Removable): [string, string][] {
  try {
    remove();
    return [];
  } catch (thrown) {
    const said = thrown instanceof LifeboatError ? thrown.shortMessage : errorCode(thrown);
    const problem = said ?? 'the system does not say why';
    stderr.write(`${show(path, 300)} could not be removed: ${problem}\n`);
    return [[path, problem]];
  }
}
