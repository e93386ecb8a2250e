import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printJson } from '../../cli/print-json.ts';
import { openSites, sitesOfRun } from '../../compose/instances.ts';
import { gatherObligations, type Owed, obligationNamed } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import { openWorkspace, type Workspace } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { Holds } from '../../runner/holds.ts';
import type { Json } from '../../store/journal.ts';
import { oweLines, oweRow } from '../../view/owe.ts';
import { drive } from '../run/drive.ts';
import { drivingOptions } from '../run/run.ts';

interface SettleFlags {
  readonly tokenFile?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `lifeboat owe`: what is owed, in open runs and in the ledgers. Exit 3 while something is. */
export async function owe(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly all?: boolean; readonly json?: boolean },
): Promise<number> {
  const journal = await openJournalIfAny(context);
  const found = journal === undefined ? [] : await gatherObligations(journal, flags.all ? 'all' : 'open');
  await journal?.close();
  const open = found.filter(({ obligation }) => obligation.settled === undefined);
  const now = new Date();
  const rows = (flags.all ? found : open).map(({ obligation, instance, run }) =>
    oweRow(obligation, {
      instance,
      now,
      ...(run === undefined ? {} : { runId: run.runId, runbook: run.runbook }),
    }),
  );
  if (flags.json) for (const row of rows) printJson(context, row);
  else if (rows.length === 0) context.stderr.write('nothing is owed\n');
  else context.stdout.write(`${rows.flatMap(oweLines).join('\n')}\n`);
  return open.length === 0 ? EXIT.closed : EXIT.waiting;
}

/** `lifeboat owe settle ID --proof TEXT`: it was done by hand. */
export function oweSettle(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: SettleFlags & { readonly proof: string },
): Promise<number> {
  return settle(context, id, { event: 'operator.settle', text: flags.proof }, flags);
}

/** `lifeboat owe skip ID --reason TEXT`: it stays undone. */
export function oweSkip(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: SettleFlags & { readonly reason: string },
): Promise<number> {
  return settle(context, id, { event: 'operator.skip', text: flags.reason }, flags);
}

/** `lifeboat owe pay ID`: done from here, by the platform or by the run itself. */
export function owePay(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: SettleFlags,
): Promise<number> {
  return settle(context, id, { event: 'operator.pay' }, flags);
}

interface Word {
  readonly event: 'operator.settle' | 'operator.skip' | 'operator.pay';
  readonly text?: string;
}

/** Answers the run that owes it, which then goes on as far as it can by itself; what only a ledger knows is settled there. */
async function settle(context: CommandContext, id: string, word: Word, flags: SettleFlags): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const options = { operator: config.operator.name, checkpoints: config.checkpoints };
  const workspace = await openWorkspace(context, options);
  try {
    const owed = obligationNamed(await gatherObligations(workspace.journal), id);
    const { run } = owed;
    if (run === undefined) return await settleInLedger(context, workspace, owed, word);
    const wish = await sitesOfRun(workspace.journal, run, flags.tokenFile);
    await using sites = await openSites(context, config, workspace, wish);
    return await drive(context, sites, workspace, run, {
      ...(await drivingOptions(context, flags)),
      first: { ...word, id: owed.obligation.id },
      overlay: config.runbooks,
    });
  } finally {
    await workspace.close();
  }
}

async function settleInLedger(
  context: CommandContext,
  { journal, sealer }: Workspace,
  { obligation, instance }: Owed,
  { event, text = '' }: Word,
): Promise<number> {
  if (event === 'operator.pay') {
    context.stderr.write(`lifeboat: "${show(obligation.what)}" can only be done by hand\n`);
    return EXIT.usage;
  }
  const how = event === 'operator.skip' ? 'skipped' : 'hand';
  const settlement = { how, text, at: new Date().toISOString(), evidence: {} };
  await using holds = new Holds(journal);
  await holds.take(`instance/${instance}`);
  // Somebody else may have settled it before the ledger was held.
  obligationNamed(await gatherObligations(journal), `${instance}:${obligation.id}`);
  const body = { id: obligation.id, settlement } as unknown as Json;
  await journal.append([{ stream: `instance/${instance}`, type: 'obligation.settled', body }], holds.all);
  await sealer.sealNow();
  context.stdout.write(`${how === 'hand' ? 'settled' : 'skipped'}: ${show(obligation.what)}\n`);
  return EXIT.closed;
}
