import type { PlanInput, ResolvedGroup } from '../../../machines/parts/plan.ts';
import { unconfirmed } from '../../../machines/plan-questions.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { EXIT, type ExitCode, LifeboatError } from '../../base/errors.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printRecord } from '../../cli/print-result.ts';
import { keepSignals } from '../../cli/stop-signal.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { assertFits, type ReadPlan } from '../../plans/plan-file.ts';
import { resolvePlan } from '../../plans/resolve.ts';
import { startRun } from '../../runner/runs.ts';
import type { Json } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { presentOf } from '../approvals/present.ts';
import { assertApproversConfigured } from '../approvals/required.ts';
import { mannerOf } from '../run/drive.ts';
import { inSeconds, sayLeft } from '../run/run.ts';
import { momentFrom } from '../run/run-input.ts';
import { clockMark } from '../run/watch-clock.ts';
import { drivePlan } from './drive-plan.ts';
import { findPlanRun } from './find-plan-run.ts';
import { followPlan } from './follow-plan.ts';
import { planNamed, surroundingsOf } from './plan-files.ts';
import type { PlanSetting } from './plan-setting.ts';
import { standingOf } from './show.ts';
import { showPlanRun } from './show-plan-run.ts';

export interface PlanFlags {
  readonly yes?: boolean;
  readonly confirm?: readonly string[];
  readonly plain?: boolean;
}

interface PlanRunFlags extends PlanFlags {
  readonly rehearsal?: boolean;
  readonly sourceDown?: boolean;
  readonly incident?: string;
  readonly detach?: boolean;
}

/**
 * `lifeboat plans run PLAN`: begins the run of a plan, which pins its text and its instances, and drives it
 * with everything that it starts: on the full screen where that can be drawn, else by the flags. Exit 0 when
 * every step is done, 1 when not, 3 when it waits for a person; left on the screen, 130.
 */
export const plansRun: Action<PlanRunFlags> = async (context, [word = ''], flags) => {
  const config = await loadConfig(context.env, context.configPath);
  assertApproversConfigured(config);
  const read = await planNamed(config, word);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    return await runPlan({ context, config, workspace }, read, flags);
  } finally {
    await workspace.close();
  }
};

/** Begins the run of a plan and drives it to its end, or to where it waits. Rejects with `plan.misfit`. */
export async function runPlan(setting: PlanSetting, read: ReadPlan, flags: PlanRunFlags): Promise<ExitCode> {
  const { context, config, workspace } = setting;
  const { plan, text, sha256 } = read;
  const rehearsal = flags.rehearsal === true || isAllScratch(read, config);
  const { groups, misfits } = resolvePlan(plan, surroundingsOf(config), { rehearsal });
  assertFits(read, misfits);
  const confirm = confirmedNames(flags, plan.plan, groups);
  const { groups: _, ...rest } = plan;
  const source = flags.sourceDown === true ? 'down' : 'up';
  const incidentAt =
    flags.incident === undefined ? undefined : await momentFrom(flags.incident, '--incident', new Date());
  const input: PlanInput = {
    plan: rest,
    groups,
    text,
    sha256,
    rehearsal,
    source,
    ...(incidentAt === undefined ? {} : { incidentAt }),
  };
  const instance = planSubject(plan.plan);
  const early = keepSignals();
  const runId = await startRun(workspace.journal, {
    runbook: planRunbook,
    instance,
    input: input as unknown as Json,
    mode: rehearsal ? 'REHEARSAL' : 'LIVE',
    objectives: inSeconds(plan.objectives),
    operator: workspace.operator,
    asked: await presentOf(config, workspace, { instance, target: undefined }),
    tool: { name: 'lifeboat', version: context.version, node: process.version },
    clock: clockMark(),
    workers: flags.detach === true ? { yes: flags.yes ?? false, confirm: [...confirm] } : undefined,
  });
  if (flags.detach !== true) return conduct(setting, runId, input, { ...flags, confirm }, early);
  early.release();
  if (isForPeople(context)) {
    const code = await sayLeft(context, workspace.journal, { runId, instance });
    if (plan.approve === undefined) sayUnconfirmed(context, runId, groups, confirm);
    return code;
  }
  await printRecord(context, 'plan-run', await standingOf(workspace.journal, runId));
  return EXIT.closed;
}

/** No worker types a name: what is not confirmed waits for a person. */
function sayUnconfirmed(
  { stderr }: CommandContext,
  runId: string,
  groups: readonly ResolvedGroup[],
  confirmed: readonly string[],
): void {
  const ids = unconfirmed({ input: { groups }, confirmed, groups: {} }).map(({ id }) => id);
  if (ids.length === 0) return;
  const words = ids.length === 1 ? 'it replaces data and waits' : 'they replace data and wait';
  stderr.write(
    `nothing begins before ${show(ids.join(', '), 400)} is confirmed: ${words} for a typed name\n` +
      `to confirm: lifeboat resume ${runId} --confirm ${ids.join(',')}\n`,
  );
}

/** A plan that changes only scratch instances is a rehearsal, as with a runbook. */
function isAllScratch({ plan }: ReadPlan, config: LoadedConfig): boolean {
  const changed = resolvePlan(plan, surroundingsOf(config)).groups.flatMap((group) =>
    group.for === undefined ? [] : group.lanes.map(({ name, target }) => target ?? name),
  );
  return changed.length > 0 && changed.every((name) => config.instances[name]?.rehearsal === true);
}

/** Continues the run of a plan where its record ends. */
export async function resumePlan(
  context: CommandContext,
  workspace: Workspace,
  { runId }: Pick<RunSummary, 'runId'>,
  flags: PlanFlags,
): Promise<ExitCode> {
  const config = await loadConfig(context.env, context.configPath);
  const { input } = await findPlanRun(workspace.journal, runId);
  const confirm = confirmedNames(flags, input.plan.plan, input.groups);
  return conduct({ context, config, workspace }, runId, input, { ...flags, confirm }, keepSignals());
}

/**
 * What `--confirm` names, each time one group or several with commas, or the plan where people have to
 * approve it. Throws `plan.no-group` for any other name, which would confirm nothing, and show only when the
 * plan waits for it.
 */
function confirmedNames(
  { confirm = [] }: Pick<PlanFlags, 'confirm'>,
  plan: string,
  groups: readonly ResolvedGroup[],
): readonly string[] {
  const names = confirm.flatMap((words) => words.split(',')).map((name) => name.trim());
  const ids = groups.map(({ id }) => id);
  const unknown = names.filter((name) => name !== plan && !ids.includes(name));
  if (unknown.length === 0) return names;
  const counted = unknown.length === 1 ? 'no group' : 'no groups';
  throw new LifeboatError('plan.no-group', `the plan has ${counted} ${show(unknown.join(', '), 200)}`, {
    hints: [`its groups: ${show(ids.join(', '), 400)}`, 'nothing was begun'],
    exitCode: EXIT.usage,
  });
}

async function conduct(
  setting: PlanSetting,
  runId: string,
  input: PlanInput,
  flags: PlanFlags,
  early: ReturnType<typeof keepSignals>,
): Promise<ExitCode> {
  try {
    await using driven = await drivePlan(setting, runId, input);
    const { yes = false, plain = false } = flags;
    const manner = mannerOf(setting.context, { yes, plain, first: undefined });
    const code = await (manner === 'screen' ? showPlanRun : followPlan)(setting, driven, flags, early);
    if (!isForPeople(setting.context))
      await printRecord(setting.context, 'plan-run', await standingOf(setting.workspace.journal, runId));
    return code;
  } finally {
    early.release();
  }
}
