import { runbookOf } from '../../../machines/index.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { type DrivenRun, instancesOfRun, openInstances, type RunInstances } from '../../compose/instances.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { callName } from '../../runner/assert-not-in-doubt.ts';
import { taskOf } from '../../runner/resolve-doubt.ts';
import { type Doubt, doubtsOfStream } from '../../store/projections/pending-calls.ts';
import { foldSends } from '../../store/projections/sends.ts';
import { progressLine } from '../service/progress-line.ts';
import { lookOnly } from './autopilot.ts';
import { stillInDoubt, wordsOf } from './doubts.ts';
import { leaveOnSignals, otherVersion, takeUpRun } from './drive.ts';

export interface SeenOfRun {
  readonly doubt: Doubt;
  readonly landed: boolean;
  readonly id: number | undefined;
  readonly reason: string;
}

/**
 * `resume RUN --look` for an open run: lets it ask the service what became of its call in doubt, and leaves
 * it there. Sends nothing. Exit code 5 while that is not known.
 */
export async function lookAtRun(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  run: DrivenRun,
  tokenFile: string | undefined,
): Promise<number> {
  const seen = await seenOfRun(context, config, workspace, run, tokenFile);
  if (seen === undefined) {
    context.stderr.write(`no call of run ${run.runId} is in doubt\n`);
    return EXIT.closed;
  }
  const { doubt, landed, id, reason } = seen;
  const { instance, verb, armedAt } = doubt;
  const result = { instance, intent: callName(doubt), verb, landed, became: id, reason };
  await printResult(context, 'call', result, () => {
    const what = !landed ? 'became nothing' : id === undefined ? 'was done' : `became ${id}`;
    context.stdout.write(`${readable(`${verb} of ${formatTime(armedAt)} UTC ${what}: ${reason}`)}\n`);
  });
  return EXIT.closed;
}

/**
 * Lets an open run ask the service about its call in doubt, if it has one. Rejects with the failure (exit 5)
 * while the service does not show what became of it, and as `drive` does.
 */
export async function seenOfRun(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  run: DrivenRun,
  tokenFile: string | undefined,
): Promise<SeenOfRun | undefined> {
  const { journal } = workspace;
  const stream = `run/${run.runId}` as const;
  const [doubt] = doubtsOfStream(stream, await journal.read(stream));
  if (doubt === undefined) return undefined;
  const wish = await instancesOfRun(journal, run, tokenFile);
  await using instances = await openInstances(context, config, workspace, wish);
  await lookWith(context, instances, workspace, run);
  const entries = await journal.read(stream);
  const send = foldSends(entries).get(doubt.intent);
  if (doubtsOfStream(stream, entries).some(({ intent }) => intent === doubt.intent))
    throw stillInDoubt(doubt, send?.unclear ?? unseen());
  const { landed = false, id } = (send?.output ?? {}) as { readonly landed?: boolean; readonly id?: number };
  const isLanded = send?.state === 'landed' && landed !== false;
  const became = { landed: isLanded, id: isLanded ? id : undefined };
  const lost = send?.answer;
  const reason = wordsOf({ ...became, evidence: send?.evidence as never, lost }, taskOf(doubt.verb));
  return { doubt, ...became, reason };
}

async function lookWith(
  context: CommandContext,
  instances: RunInstances,
  workspace: Workspace,
  summary: DrivenRun,
): Promise<void> {
  const runbook = runbookOf(summary.runbook, summary.version);
  if (runbook === undefined) throw otherVersion(summary);
  const taken = await takeUpRun(context, instances, workspace, summary, { runbook, leaveWhenPaused: true });
  const leaving = leaveOnSignals(taken.run, context);
  const line = progressLine(context);
  const unsubscribe = taken.run.subscribe(() => {
    const { activity } = taken.run.state();
    if (activity?.progress !== undefined) line.report(activity.progress);
  });
  try {
    const { exitCode } = await lookOnly(taken.run);
    const { paused } = taken.run.state();
    if (paused !== undefined) throw errorFrom(paused, EXIT.credentials);
    if (exitCode === EXIT.interrupted) throw interrupted();
  } finally {
    unsubscribe();
    line.end();
    leaving.release();
  }
}

function interrupted(): LifeboatError {
  return new LifeboatError('call.left', 'interrupted', {
    hints: ['nothing was sent', 'the call stays in doubt: the same command looks again'],
    exitCode: EXIT.interrupted,
  });
}

function unseen() {
  return {
    code: 'doubt.unreadable',
    shortMessage: 'the service was not asked to the end what became of the call',
    hints: [],
    evidence: {},
  };
}
