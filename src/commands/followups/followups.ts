import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable, secondsOf } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printResult } from '../../cli/print-result.ts';
import {
  followUpNamed,
  followUpsOfRun,
  gatherFollowUps,
  type OpenFollowUp,
} from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { Holds } from '../../runner/holds.ts';
import type { JournalReader, Json } from '../../store/journal.ts';
import { scheduledKeys } from '../../store/projections/custody.ts';
import { readLedgers } from '../../store/projections/ledgers.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { leftToRun, runGoesOnWords } from '../../view/follow-up-words.ts';
import { type FollowUpRow, followUpLines, followUpRow, viewClosed } from '../../view/view-follow-ups.ts';

interface AnswerFlags {
  readonly tokenFile?: string;
  readonly yes?: boolean;
}

/** `lifeboat followups`: lists those of open runs, and those in the ledgers. Exit 3 while one is open. */
export const followUpsList: Action<{ readonly all?: boolean }> = async (context, _, flags) => {
  const journal = await openJournalIfAny(context);
  const found = journal === undefined ? [] : await gatherFollowUps(journal, flags.all ? 'all' : 'open');
  const endings = journal === undefined ? [] : await endingsIn(journal);
  await journal?.close();
  const open = found.filter(({ followUp }) => followUp.closed === undefined);
  const now = new Date();
  const rows = (flags.all ? found : open).map((one) => rowOf(one, now));
  await printResult(context, 'followups', { items: rows.map(fieldsOf), endings }, () => {
    if (rows.length === 0) context.stderr.write('there are no open follow-ups\n');
    else context.stdout.write(`${rows.flatMap(followUpLines).join('\n')}\n`);
    for (const { instance, fingerprint, due } of endings) {
      const key = `key ${fingerprint} of ${show(instance)}`;
      context.stdout.write(`${key} is to be destroyed on ${formatTime(due)} UTC\n`);
      context.stdout.write(`  lifeboat keys destroy ${fingerprint} -i ${show(instance)} --cancel\n`);
    }
  });
  return open.length === 0 ? EXIT.closed : EXIT.waiting;
};

/** The destructions of keys that are scheduled, soonest first. */
async function endingsIn(journal: JournalReader) {
  const endings = (await readLedgers(journal)).flatMap(([instance, { custody }]) =>
    scheduledKeys(custody).map(({ fingerprint, scheduled: { due } }) => ({ instance, fingerprint, due })),
  );
  return endings.toSorted((one, other) => msOf(one.due) - msOf(other.due));
}

function fieldsOf(row: FollowUpRow) {
  const { id, kind, what, subject, owner, instance, run, runbook, age, left, commands, doable, closed } = row;
  return {
    ...{ id, kind, what, subject, owner, instance, runId: run, runbook, commands, runsBy: doable },
    ageSeconds: age === undefined ? undefined : secondsOf(age * 1000),
    leftSeconds: left === undefined ? undefined : secondsOf(left * 1000),
    closed: closed?.text,
  };
}

/** `lifeboat followups done ID --proof TEXT`: records that it was done by hand. */
export const followUpsDone: Action<AnswerFlags & { readonly proof: string }> = (context, [id = ''], flags) =>
  close(context, id, { event: 'operator.reportDone', text: flags.proof }, flags);

/** `lifeboat followups skip ID --reason TEXT`: records that it stays undone. */
export const followUpsSkip: Action<AnswerFlags & { readonly reason: string }> = (context, [id = ''], flags) =>
  close(context, id, { event: 'operator.skip', text: flags.reason }, flags);

/** `lifeboat followups run ID`: has the platform, a command of the config, or the run itself do it. */
export const followUpsRun: Action<AnswerFlags & { readonly again?: boolean }> = (context, [id = ''], flags) =>
  close(context, id, { event: 'operator.doNow', again: flags.again ?? false }, flags);

interface Word {
  readonly event: 'operator.reportDone' | 'operator.skip' | 'operator.doNow';
  readonly text?: string;
  readonly again?: boolean;
}

/**
 * Answers the follow-up's run, which then continues as far as it can by itself; closes one of a ledger there.
 * Exit 0 once it is closed, even if others of the run are still open.
 */
async function close(context: CommandContext, id: string, word: Word, flags: AnswerFlags): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const found = followUpNamed(await gatherFollowUps(workspace.journal), id);
    const { run } = found;
    if (run === undefined) return await closeInLedger(context, workspace, found, word);
    const next = await nextOfRun(workspace.journal, run, found);
    announce(context, next);
    const { instancesOfRun, openInstances } = await import('../../compose/instances.ts');
    const { drive } = await import('../run/drive.ts');
    const { drivingOptions } = await import('../run/run.ts');
    const wish = await instancesOfRun(workspace.journal, run, flags.tokenFile);
    await using instances = await openInstances(context, config, workspace, wish);
    const options = {
      ...(await drivingOptions(context, flags)),
      first: { ...word, id: found.followUp.id },
      overlay: config.runbooks,
    };
    const exitCode = await drive(context, instances, workspace, run, options);
    await tellWhatRunDid(context, workspace.journal, run, next);
    const isLeft = exitCode === EXIT.waiting;
    // The run was left at another follow-up: this one is closed, as requested.
    return isLeft && !(await isOpen(workspace.journal, run.runId, found)) ? EXIT.closed : exitCode;
  } finally {
    await workspace.close();
  }
}

/** What the run does by itself once this follow-up is closed. */
async function nextOfRun(
  journal: Workspace['journal'],
  run: RunSummary,
  { followUp }: OpenFollowUp,
): Promise<readonly FollowUp[]> {
  const others = (await followUpsOfRun(journal, run)).filter(({ id }) => id !== followUp.id);
  return leftToRun(others);
}

function announce(context: CommandContext, next: readonly FollowUp[]): void {
  if (next.length === 0 || !isForPeople(context)) return;
  context.stderr.write(`${runGoesOnWords(next)}\n`);
}

/** Otherwise a person would have to find in the record what the run did beyond the request. */
async function tellWhatRunDid(
  context: CommandContext,
  journal: Workspace['journal'],
  run: RunSummary,
  next: readonly FollowUp[],
): Promise<void> {
  if (next.length === 0 || !isForPeople(context)) return;
  const after = new Map((await followUpsOfRun(journal, run)).map((one) => [one.id, one]));
  const told = next.map(({ id, what }) => {
    const closed = after.get(id)?.closed;
    return `${readable(what)} (${closed === undefined ? 'still open' : viewClosed(closed).text})`;
  });
  context.stderr.write(`the run went on by itself: ${told.join('; ')}\n`);
}

async function isOpen(
  journal: Workspace['journal'],
  runId: string,
  { followUp }: OpenFollowUp,
): Promise<boolean> {
  const open = await gatherFollowUps(journal);
  return open.some(
    (one) => one.run?.runId === runId && one.followUp.id === followUp.id && one.followUp.closed === undefined,
  );
}

async function closeInLedger(
  context: CommandContext,
  { journal, sealer }: Workspace,
  { followUp, instance }: OpenFollowUp,
  { event, text = '' }: Word,
): Promise<number> {
  if (event === 'operator.doNow') {
    throw new LifeboatError('followUps.by-hand', `"${show(followUp.what)}" can only be done by hand`, {
      hints: [`when it is done: lifeboat followups done ${show(followUp.id)} --proof TEXT`],
      exitCode: EXIT.usage,
    });
  }
  const how = event === 'operator.skip' ? 'skipped' : 'hand';
  const closure = { how, text, at: new Date().toISOString(), evidence: {} } as const;
  await using holds = new Holds(journal);
  await holds.take(`instance/${instance}`);
  // Another process may have closed it before the ledger was held.
  followUpNamed(await gatherFollowUps(journal), `${instance}:${followUp.id}`);
  const body = { id: followUp.id, closure } as unknown as Json;
  await journal.append([{ stream: `instance/${instance}`, type: 'follow-up.closed', body }], holds.all);
  await sealer.sealNow();
  const { id, what } = followUp;
  await printResult(context, 'followup', { id, instance, what, how, text, at: closure.at }, () => {
    context.stdout.write(`${how === 'hand' ? 'done' : 'skipped'}: ${show(what)}\n`);
  });
  return EXIT.closed;
}

/** A follow-up as lists show it; if it names no owner, the person who began its run owns it. */
export function rowOf({ followUp, instance, run }: OpenFollowUp, now: Date): FollowUpRow {
  const { runId, runbook, by: operator } = run ?? {};
  return followUpRow(followUp, { instance, now, runId, runbook, operator });
}
