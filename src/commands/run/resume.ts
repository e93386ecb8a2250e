import type { Answer } from '../../../machines/parts/question.ts';
import { stillOpen } from '../../../machines/parts/unfinished.ts';
import { transcriptLeft } from '../../audit/transcript/transcript.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printResult } from '../../cli/print-result.ts';
import { instancesOfRun, openInstances } from '../../compose/instances.ts';
import { followUpsOfRun } from '../../compose/open-follow-ups.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { callInWords } from '../../runner/assert-not-in-doubt.ts';
import { abandonRun } from '../../runner/runs.ts';
import { type Doubt, doubtsOfStream } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { PlanChild } from '../../store/run-entries.ts';
import { assertNotRunOfDrill } from '../drill/drill-homes.ts';
import { runToResume } from '../plans/find-plan-run.ts';
import { assertReasonGiven, type DoubtFlags, doubtMeant, doubtNeedsFlag, resolveDoubt } from './doubts.ts';
import { drive } from './drive.ts';
import { lookAtRun } from './look-at-run.ts';
import { type DrivingFlags, drivingOptions } from './run.ts';
import { momentFrom } from './run-input.ts';

interface ResumeFlags {
  readonly abandon?: string;
  readonly to?: string;
  readonly backup?: string;
}

/**
 * `lifeboat resume [RUN]`: continues a run where its journal ends, or gives it up with `--abandon REASON`.
 * With `--look` it only asks the service about a call in doubt; with `--became` a person says what it became.
 */
export const resume: Action<DrivingFlags & ResumeFlags & DoubtFlags> = async (context, [word], flags) => {
  assertReasonGiven(flags);
  await assertNotRunOfDrill(context, word);
  const config = await loadConfig(context.env, context.configPath);
  const options = {
    ...(await drivingOptions(context, flags)),
    time: flags.to === undefined ? undefined : await momentFrom(flags.to, '--to', new Date()),
    backup: flags.backup === undefined ? undefined : idFrom(flags.backup, '--backup'),
    overlay: config.runbooks,
  };
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const left = await doubtMeant(workspace.journal, word, flags);
    if (left !== undefined && (flags.look === true || flags.became !== undefined))
      return await resolveDoubt(context, config, workspace, left, flags);
    if (left !== undefined && left.run === undefined) throw doubtNeedsFlag(left);
    const summary = await runToResume(workspace.journal, word);
    if (summary.status !== 'open') {
      throw new LifeboatError('run.over', `run ${summary.runId} is ${summary.status}: ${summary.where}`, {
        hints: [
          ...(left === undefined ? [] : doubtNeedsFlag(left).hints),
          `read it with: lifeboat audit show ${summary.runId}`,
        ],
        exitCode: EXIT.usage,
      });
    }
    if (flags.abandon !== undefined) return await abandon(context, workspace, summary, flags.abandon);
    if (flags.became !== undefined) {
      const doubt = await doubtDecided(workspace, summary);
      if (flags.became === 'nothing') {
        await endRun(workspace, summary, flags.reason ?? '');
        const run = { runId: summary.runId, isOpen: false };
        return await resolveDoubt(context, config, workspace, { ...doubt, run }, flags);
      }
    }
    if (flags.look === true) return await lookAtRun(context, config, workspace, summary, flags.tokenFile);
    if (summary.runbook === 'plan-step') throw await ofPlan(workspace, summary);
    if (summary.runbook === 'plan') {
      const { resumePlan } = await import('../plans/run.ts');
      const { yes, plain } = options;
      const confirm = flags.confirm === undefined ? [] : [flags.confirm];
      return await resumePlan(context, workspace, summary, { yes, plain, confirm });
    }
    const wish = await instancesOfRun(workspace.journal, summary, flags.tokenFile);
    await using instances = await openInstances(context, config, workspace, wish);
    return await drive(context, instances, workspace, summary, { ...options, first: answerOf(flags) });
  } finally {
    await workspace.close();
  }
};

/**
 * The call in doubt of an open run, of which a person says what it became. Without one the run is refused
 * (`usage.became`, exit 2): driven on, it could send what that person believes was never to be sent.
 */
async function doubtDecided({ journal }: Workspace, { runId }: RunSummary): Promise<Doubt> {
  const [doubt] = doubtsOfStream(`run/${runId}`, await journal.read(`run/${runId}`));
  if (doubt !== undefined) return doubt;
  throw new LifeboatError('usage.became', `no call of run ${runId} is in doubt`, {
    hints: [
      'nothing was resolved, and nothing was sent',
      `to go on with the run: lifeboat resume ${runId}`,
      `to end it as it is: lifeboat resume ${runId} --abandon REASON`,
    ],
    exitCode: EXIT.usage,
  });
}

/** The error for a step of a plan that is no runbook: it is answered through the run of its plan. */
async function ofPlan({ journal }: Workspace, { runId }: RunSummary): Promise<LifeboatError> {
  const [started] = await journal.read(`run/${runId}`);
  const { plan } = (started?.body ?? {}) as { readonly plan?: PlanChild };
  const place = plan === undefined ? 'GROUP/INSTANCE/STEP' : `${plan.group}/${plan.lane}/${plan.step}`;
  const of = plan?.run ?? 'RUN';
  return new LifeboatError('run.plan-step', `run ${runId} is a step of a plan`, {
    hints: [
      `to go on with the plan: lifeboat resume ${of}`,
      `if it was done outside: lifeboat plans done ${of} ${place} --proof TEXT`,
      `to skip it: lifeboat plans skip ${of} ${place} --reason TEXT`,
    ],
    exitCode: EXIT.usage,
  });
}

/** What `--became` answers to the question about a call in doubt. */
function answerOf({ became, reason }: DoubtFlags): Answer | undefined {
  if (became === undefined || became === 'nothing') return undefined;
  if (became === 'done') return { event: 'operator.hasBegun', text: reason ?? '' };
  return { event: `operator.adopt:${idFrom(became, '--became')}` };
}

async function abandon(
  context: CommandContext,
  workspace: Workspace,
  summary: RunSummary,
  reason: string,
): Promise<number> {
  const { doubts, openFollowUps } = await endRun(workspace, summary, reason);
  const inDoubt = doubts.map((doubt) => ({
    instance: doubt.instance,
    call: callInWords(doubt),
    armedAt: doubt.armedAt,
  }));
  const { runId, instance } = summary;
  await printResult(context, 'abandoned', { runId, instance, openFollowUps, inDoubt }, () =>
    tellAbandoned(context, runId, doubts, openFollowUps),
  );
  return EXIT.closed;
}

/** Ends a run as it is; its open follow-ups move to the ledger. */
async function endRun(workspace: Workspace, summary: RunSummary, reason: string) {
  const open = stillOpen(await followUpsOfRun(workspace.journal, summary));
  const notes = transcriptLeft(workspace.home, summary.runId);
  const doubts = await abandonRun(workspace.journal, summary, reason, open, notes);
  await workspace.sealer.sealNow();
  return { doubts, openFollowUps: open.length };
}

function tellAbandoned(
  { stdout }: CommandContext,
  runId: string,
  doubts: readonly Doubt[],
  openFollowUps: number,
): void {
  stdout.write(`run ${runId} is abandoned; its record stays\n`);
  for (const doubt of doubts) {
    const what = `${callInWords(doubt)} on ${doubt.instance}, sent ${formatTime(doubt.armedAt)} UTC`;
    stdout.write(`${show(what)}, is still in doubt: it may have been done\n`);
    stdout.write(
      `until that is known, ${doubt.instance} is not changed; to ask the service: lifeboat resume ${runId} --look\n`,
    );
  }
  if (openFollowUps > 0) stdout.write(`open follow-ups: ${openFollowUps}; list them: lifeboat followups\n`);
}
