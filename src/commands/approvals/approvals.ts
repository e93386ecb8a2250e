import { approvalPaths, readIfThere, writeBeside } from '../../approvals/approval-files.ts';
import { signCommand } from '../../approvals/refusals.ts';
import { isExpired, momentSinceAsked, requestStateOf } from '../../approvals/request-state.ts';
import { MAX_SIGNATURE_BYTES } from '../../approvals/ssh-signature.ts';
import { fitsAsked, unusedApproval } from '../../approvals/still-holds.ts';
import {
  type ApprovalRules,
  type AskedOf,
  approvalOnDisk,
  verifyApproval,
} from '../../approvals/verify-approval.ts';
import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { readGivenFile } from '../../cli/read-given-file.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { loginName, openKeys, openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import { appendHolding } from '../../runner/holds.ts';
import { findRun } from '../../runner/runs.ts';
import type { Json } from '../../store/journal.ts';
import { openRuns } from '../../store/projections/runs.ts';
import { rulesOf } from './gate-of-run.ts';
import { isOfPlan, termsOnRecord } from './plan-terms.ts';

/** `lifeboat approvals [RUN]`: requests of open runs and their state. Exit 3 while something waits. */
export async function approvals(context: CommandContext, [word]: readonly string[]): Promise<number> {
  const journal = await openJournalIfAny(context);
  const open: Open[] = [];
  let now = () => new Date();
  try {
    now = (await journal?.clock()) ?? now;
    const runs = journal === undefined ? [] : await openRuns(journal);
    const wanted = journal && word !== undefined ? [await findRun(journal, word)] : runs;
    for (const { runId, status } of wanted) {
      const entries = status === 'open' ? await journal?.read(`run/${runId}`) : undefined;
      const { asked } = requestStateOf(entries ?? []);
      if (journal === undefined || entries === undefined || asked === undefined) continue;
      const read = await termsOnRecord(journal, entries).then(
        (terms) => ({ terms }),
        (thrown: unknown) => ({ problem: failureOf(thrown).shortMessage }),
      );
      open.push({ run: runId, entries, asked, ...read });
    }
  } finally {
    await journal?.close();
  }
  if (open.length === 0) {
    await printResult(context, 'approvals', { items: [] }, () => {
      context.stderr.write('nothing waits for an approval\n');
    });
    return EXIT.closed;
  }
  const config = await loadConfig(context.env, context.configPath);
  const operator = config.operator.name ?? loginName(context.env);
  let known: Promise<ApprovalRules> | undefined;
  const rules = () => {
    known ??= openKeys(context, 'look').then((keyring) => rulesOf(config, { keyring, operator }, now));
    return known;
  };
  const home = homeFolder(context.env);
  const rows = await Promise.all(open.map((about) => rowOf(about, home, { rules, now })));
  await printResult(context, 'approvals', { items: rows }, () => {
    const columns = ['run', 'order', 'state', 'until (UTC)', 'by'].map((title) => ({ title }));
    printTable(
      context,
      columns,
      rows.map(({ runId, order, state, expiresAt, by }) => [
        runId,
        order,
        state,
        formatTime(expiresAt),
        by ?? '',
      ]),
    );
    for (const { state, file, command } of rows)
      if (state === 'needed') context.stdout.write(`file: ${show(file)}\nsign: ${show(command)}\n`);
  });
  return rows.every(({ state }) => state === 'given') ? EXIT.closed : EXIT.waiting;
}

/** A request, and why the terms of its plan cannot be read, if so. */
interface Open extends AskedOf {
  readonly problem?: string;
}

type Row = ResultOf<'approvals'>['items'][number];

/** Opens the key store only for a signature: to tell this installation's own key from another's. */
async function rowOf(
  about: Open,
  home: string,
  { rules, now }: { readonly rules: () => Promise<ApprovalRules>; readonly now: () => Date },
): Promise<Row> {
  const { run, entries, asked } = about;
  const misfit = fitsAsked(asked, { runId: run });
  if (misfit !== undefined) return strayRow(about, misfit);
  const paths = approvalPaths(home, run, asked.challenge);
  const { challenge, order, target, requester, expiresAt } = asked;
  const head = { runId: run, challenge, order, target, requester, expiresAt, file: paths.challenge };
  const row = { ...head, command: signCommand(paths.challenge) };
  const reason = requestStateOf(entries).withdrawn?.reason ?? readIfThere(paths.withdrawn)?.trim();
  if (reason !== undefined) return { ...row, state: 'withdrawn', by: reason };
  if (isExpired(asked.text, momentSinceAsked(entries, now()))) return { ...row, state: 'expired' };
  if (readIfThere(paths.signature) === undefined) return { ...row, state: 'needed' };
  if (about.problem !== undefined) return { ...row, state: 'refused', by: about.problem };
  try {
    const found = await approvalOnDisk(await rules(), home, about);
    if (found === undefined) return { ...row, state: 'needed' };
    return { ...row, state: 'given', by: found.principals.join(','), key: found.key };
  } catch (thrown) {
    return { ...row, state: 'refused', by: failureOf(thrown).shortMessage };
  }
}

/** The signature covers something else. None of it is used as a path, and its text is untrusted. */
function strayRow({ run, asked }: AskedOf, misfit: string): Row {
  const { challenge, order, target, requester, expiresAt } = asked;
  const row = { runId: run, challenge, order, target, requester, expiresAt, file: '', command: '' };
  return { ...row, state: 'refused', by: `the request on record is not valid: ${misfit}` };
}

/**
 * `lifeboat approvals accept RUN SIG-FILE`: verifies a returned signature and puts it where the run looks for
 * it, even one shown by another process. Rejects with the reason why it does not count, without a file.
 */
export function approvalsAccept(
  context: CommandContext,
  [word = '', file = '']: readonly string[],
): Promise<number> {
  return withWorkspace(context, async (workspace, config) => {
    const about = await askedOf(workspace, word);
    const misfit = fitsAsked(about.asked, { runId: about.run });
    if (misfit !== undefined) throw late('approval.astray', `the request on record is not valid: ${misfit}`);
    const rules = await rulesOf(config, workspace, await workspace.journal.clock());
    const paths = approvalPaths(workspace.home, about.run, about.asked.challenge);
    if (readIfThere(paths.withdrawn) !== undefined) throw late('approval.withdrawn', 'it was withdrawn');
    if (isExpired(about.asked.text, momentSinceAsked(about.entries, rules.now())))
      throw late('approval.expired', 'the request has expired');
    const given = (await readGivenFile(file, MAX_SIGNATURE_BYTES)).toString('latin1');
    const { principals, key, signature } = await verifyApproval(rules, workspace.home, about, given);
    await writeBeside(paths.signature, signature);
    const accepted = { runId: about.run, order: about.asked.order, principals, key };
    await printResult(context, 'approval', accepted, () => {
      context.stdout.write(
        `${show(principals.join(','), 200)} approves (${key}): ${show(about.asked.order)}\n`,
      );
    });
    return EXIT.closed;
  });
}

/**
 * `lifeboat approvals withdraw RUN --reason TEXT`: takes back an approval, or the request for one, until the
 * call is sent.
 */
export const approvalsWithdraw: Action<{ readonly reason: string }> = (context, [word = ''], flags) => {
  const reason = show(flags.reason.trim(), 300);
  if (reason === '') throw late('usage.reason', 'the reason is empty');
  return withWorkspace(context, async (workspace) => {
    const { run, asked } = await askedOf(workspace, word, unusedApproval);
    if (!/^[0-9a-f]{16}$/.test(asked.challenge))
      throw late('approval.astray', 'the name of the request on record was not written by lifeboat');
    // File first: it stops a process that drives the run now, which then records the withdrawal.
    await writeBeside(approvalPaths(workspace.home, run, asked.challenge).withdrawn, `${reason}\n`);
    await writeDown(workspace, run, {
      challenge: asked.challenge,
      approver: workspace.operator,
      reason,
    });
    await printResult(context, 'withdrawal', { runId: run, order: asked.order, reason }, () => {
      context.stdout.write(`withdrawn: ${show(asked.order)}\n`);
    });
    return EXIT.closed;
  });
};

/** Only if no process drives the run: two writers would each refuse the other's entries. */
async function writeDown({ journal }: Workspace, run: string, body: Json): Promise<void> {
  try {
    await appendHolding(journal, [{ stream: `run/${run}`, type: 'approval.withdrawn', body }]);
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError && thrown.code === 'journal.held')) throw thrown;
  }
}

async function askedOf(
  { journal }: Workspace,
  word: string,
  orElse: (entries: AskedOf['entries']) => AskedOf['asked'] | undefined = () => undefined,
): Promise<AskedOf> {
  const { runId, runbook, status } = await findRun(journal, word);
  const entries = await journal.read(`run/${runId}`);
  // An approval of a plan has done its work with the typed name: no call is left that it could still stop.
  const asked = requestStateOf(entries).asked ?? (isOfPlan(runbook) ? undefined : orElse(entries));
  if (asked !== undefined && status === 'open')
    return { run: runId, entries, asked, terms: await termsOnRecord(journal, entries) };
  throw late('approval.none', `run ${runId} waits for no approval`);
}

async function withWorkspace<T>(
  context: CommandContext,
  act: (workspace: Workspace, config: Awaited<ReturnType<typeof loadConfig>>) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(context.env, context.configPath);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    return await act(workspace, config);
  } finally {
    await workspace.close();
  }
}

function late(code: string, message: string): LifeboatError {
  return new LifeboatError(code, message, {
    hints: ['nothing was changed', '`lifeboat approvals` shows what waits'],
    exitCode: EXIT.usage,
  });
}
