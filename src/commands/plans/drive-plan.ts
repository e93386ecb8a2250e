import { planStep } from '../../../machines/index.ts';
import { targetDifferences } from '../../../machines/parts/baseline.ts';
import type { Lane, PlanInput, Step } from '../../../machines/parts/plan.ts';
import type { TargetIdentity } from '../../../machines/parts/recovery-data.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { planRunbook, planSubject } from '../../../machines/plan-runbook.ts';
import { outsideActivities } from '../../activities/outside/index.ts';
import { LifeboatError } from '../../base/errors.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { lazyPlatform, openInstances, type RunInstances, servicesOfRun } from '../../compose/instances.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { type LoadedConfig, tokenVariables } from '../../config/loaded.ts';
import { childRunId } from '../../plans/child-id.ts';
import { Conductor } from '../../plans/conductor.ts';
import type { ConductorPort, DrivenChild, RecordedChild } from '../../plans/conductor-port.ts';
import { placeOf } from '../../plans/facts.ts';
import type { Start } from '../../plans/schedule.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Run } from '../../runner/run.ts';
import { startRun } from '../../runner/runs.ts';
import { takeUp } from '../../runner/take-up.ts';
import type { Json } from '../../store/journal.ts';
import { childOf, childrenOf } from '../../store/projections/plan-children.ts';
import { gateOfRun } from '../approvals/gate-of-run.ts';
import { presentOf } from '../approvals/present.ts';
import { takeUpRun } from '../run/drive.ts';
import { inSeconds } from '../run/run.ts';
import { clockMark, watchClock } from '../run/watch-clock.ts';
import { childSnapshot } from './child-snapshot.ts';
import { confirmWhenSigned } from './confirm-when-signed.ts';
import { evaluateLanes } from './evaluate-lanes.ts';
import { stepRunOf } from './step-run.ts';

/** A plan's run that this process drives, with its children. */
export interface DrivenPlan extends AsyncDisposable {
  readonly run: Run;
  readonly conductor: Conductor;
}

/** What driving a plan needs. */
export interface PlanSetting {
  readonly context: CommandContext;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
}

/**
 * Takes up the run of a plan and everything that is open of it. Rejects with `journal.held` if another
 * process drives it. Nothing is sent before `conductor.run` is called.
 */
export async function drivePlan(setting: PlanSetting, runId: string, input: PlanInput): Promise<DrivenPlan> {
  const { config, context, workspace } = setting;
  const { journal, sealer } = workspace;
  const subject = planSubject(input.plan.plan);
  const summary = { runId, runbook: planRunbook.id, version: planRunbook.version, instance: subject };
  const gate = await gateOfRun(context, config, workspace, summary, planRunbook, undefined);
  const run = await takeUp({
    journal,
    gate,
    runbook: planRunbook,
    runId,
    instance: subject,
    activities: {},
    take: () => Promise.reject(new Error('a plan asks for no key')),
    now: () => new Date(),
    clock: watchClock(),
    seal: async () => void (await sealer.sealNow()),
    leaveWhenPaused: false,
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(await confirmWhenSigned(run, gate));
  const platform = lazyPlatform(context, config);
  opened.defer(() => platform.close());
  const children = new ChildRuns(setting, runId, input);
  opened.defer(() => children.close());
  const port: ConductorPort = {
    plan: {
      snapshot: () => {
        const { snapshot } = run.state();
        return {
          value: snapshot.value as never,
          context: snapshot.context,
          status: snapshot.status,
          hasQuestion: questionOf(snapshot) !== undefined,
        };
      },
      tell: (event, label, wish) => {
        const { type, text } = { text: undefined, ...event } as {
          readonly type: string;
          readonly text?: string;
        };
        const note = {
          event: type,
          label: label ?? '',
          ...(text === undefined ? {} : { reason: text }),
          ...(wish === undefined ? {} : { wish }),
        };
        return run.tell({ ...event }, label === undefined ? [] : [{ type: 'answer', body: note }]);
      },
      refuse: (wish, why) => run.note([{ type: 'wish.refused', body: { wish, why } }]),
      subscribe: (listener) => run.subscribe(listener),
      ended: run.ended,
      detach: (why) => run.detach(why),
    },
    children: async () => (await childrenOf(journal, runId)) as readonly RecordedChild[],
    begin: (start) => children.begin(start),
    evaluate: () => evaluateLanes(setting, input, platform.platform),
    differences: (seen, now) => targetDifferences(JSON.parse(seen) as TargetIdentity, now as TargetIdentity),
    now: () => Date.now(),
  };
  const kept = opened.move();
  return { run, conductor: new Conductor(port), [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** The runs of a plan's steps in this process. */
class ChildRuns {
  readonly #setting: PlanSetting;
  readonly #planRun: string;
  readonly #input: PlanInput;
  readonly #open: RunInstances[] = [];

  constructor(setting: PlanSetting, planRun: string, input: PlanInput) {
    this.#setting = setting;
    this.#planRun = planRun;
    this.#input = input;
  }

  /** Begins the run of a step if it is not begun, and takes it up. */
  async begin(start: Start): Promise<DrivenChild> {
    const over = await this.#over(start);
    if (over !== undefined) return over;
    const { group, step, lane } = placeOf(this.#input, start);
    return step.kind === 'runbook'
      ? this.#runbook(start, step, lane)
      : this.#step(start, step, { lane, isOfInstance: group.for !== undefined });
  }

  /** A step whose run has ended, perhaps in another process; undefined for any other. */
  async #over(start: Start): Promise<DrivenChild | undefined> {
    const runId = childRunId(this.#planRun, start);
    const row = await childOf(this.#setting.workspace.journal, runId);
    if (row?.result === undefined) return undefined;
    const ended = Promise.resolve({ result: row.result, endedMs: msOf(row.endedAt), cause: row.cause });
    const nothing = {
      question: undefined,
      asksAbout: undefined,
      paused: undefined,
      warning: undefined,
      sinceMs: undefined,
      hasConfirmed: false,
    };
    return {
      runId,
      startedMs: msOf(row.startedAt),
      state: () => ({ ...nothing, where: row.where, targetNow: undefined }),
      subscribe: () => () => undefined,
      answer: () => Promise.reject(new Error('the run is over')),
      wake: () => undefined,
      detach: async () => undefined,
      ended,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((one) => one[Symbol.asyncDispose]()));
  }

  async #runbook(start: Start, step: Extract<Step, { kind: 'runbook' }>, lane: Lane): Promise<DrivenChild> {
    const { context, config, workspace } = this.#setting;
    const { runbook, instance, target, input, rehearsal } = stepRunOf(
      step,
      lane,
      config,
      this.#input.incidentAt,
    );
    this.#assertMayChange(runbook, input as object, target ?? instance, rehearsal);
    const named = { instance, target };
    const runId = await this.#start(start, runbook, { ...named, input, rehearsal });
    const instances = await openInstances(context, config, workspace, {
      ...named,
      source: runbook.touches(input).source,
    });
    this.#open.push(instances);
    const summary = { ...named, runId, runbook: runbook.id, version: runbook.version };
    const { run } = await takeUpRun(context, instances, workspace, summary, {
      runbook,
      leaveWhenPaused: false,
    });
    return this.#driven(runId, run, async () => instances[Symbol.asyncDispose]());
  }

  /** In a rehearsal nothing is changed that is not scratch; each step checks that for itself. */
  #assertMayChange(runbook: Runbook, wish: object, changed: string, isScratch: boolean): void {
    if (!this.#input.rehearsal || isScratch) return;
    const { source, target } = runbook.touches(wish);
    if (source !== 'changed' && source !== 'replaced' && target !== 'replaced') return;
    throw new LifeboatError(
      'plan.not-scratch',
      `${show(changed, 80)} is no scratch instance, and this is a rehearsal`,
      {
        hints: [
          'nothing was sent',
          'mark it with rehearsal: true in lifeboat.yaml, if that is what it is for',
        ],
      },
    );
  }

  async #step(
    start: Start,
    step: Step,
    { lane, isOfInstance }: { readonly lane: Lane; readonly isOfInstance: boolean },
  ): Promise<DrivenChild> {
    const { context, config, workspace } = this.#setting;
    const { plan } = this.#input;
    const instance = isOfInstance ? (lane.target ?? lane.name) : planSubject(plan.plan);
    const input = {
      instance,
      step,
      objectives: plan.objectives,
      rehearsal: this.#input.rehearsal,
    } as unknown as Json;
    const runId = await this.#start(start, planStep, {
      instance,
      target: undefined,
      input,
      rehearsal: this.#input.rehearsal,
    });
    const summary = { runId, runbook: planStep.id, version: planStep.version, instance };
    const gate = await gateOfRun(context, config, workspace, summary, planStep, undefined);
    const { journal, sealer } = workspace;
    const run = await takeUp({
      journal,
      runbook: planStep,
      runId,
      instance,
      activities: outsideActivities({
        instance,
        hideEnv: tokenVariables(config),
        reconcile: config.instances[instance]?.reconcile,
        tell: (to, text, signal) => this.#tell(runId, { to, text }, signal),
      }),
      take: () => Promise.reject(new Error('a step of a plan asks for no key')),
      now: () => new Date(),
      clock: watchClock(),
      gate,
      seal: async () => void (await sealer.sealNow()),
      leaveWhenPaused: false,
    });
    const stop = await confirmWhenSigned(run, gate);
    return this.#driven(runId, run, async () => stop());
  }

  /**
   * Sends the text of a step to a target of the config, or to all; resolves with the names of those that took
   * it.
   */
  async #tell(
    step: string,
    { to, text }: { readonly to: string | undefined; readonly text: string },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const [{ send }, { bodyOf, planNotification }] = await Promise.all([
      import('../../notify/send.ts'),
      import('../../notify/notice.ts'),
    ]);
    const { notify } = this.#setting.config;
    const run = { runId: this.#planRun, instance: planSubject(this.#input.plan.plan) };
    const mode = this.#input.rehearsal ? 'REHEARSAL' : 'LIVE';
    const body = bodyOf(planNotification({ ...run, step, mode, text }, new Date()));
    const sent = await Promise.all(
      notify
        .filter(({ name }) => to === undefined || name === to)
        .map(async (target) =>
          (await send(target, body, signal)).outcome === 'delivered' ? [target.name] : [],
        ),
    );
    return sent.flat();
  }

  async #start(
    start: Start,
    runbook: Runbook,
    of: {
      readonly instance: string;
      readonly target: string | undefined;
      readonly input: Json;
      readonly rehearsal: boolean;
    },
  ): Promise<string> {
    const { context, config, workspace } = this.#setting;
    const { instance, target, input, rehearsal } = of;
    const named = { instance, target };
    const { group, step, lane, attempt } = start;
    const objectives = config.instances[instance]?.objectives ?? {};
    return startRun(workspace.journal, {
      ...named,
      runbook,
      input,
      mode: rehearsal ? 'REHEARSAL' : 'LIVE',
      objectives: inSeconds(objectives),
      services: servicesOfRun(config, named),
      operator: workspace.operator,
      asked: await presentOf(config, workspace, named),
      tool: { name: 'lifeboat', version: context.version, node: process.version },
      clock: clockMark(),
      runId: childRunId(this.#planRun, start),
      plan: { run: this.#planRun, group, step, lane, attempt },
    });
  }

  #driven(runId: string, run: Run, close: () => Promise<void>): DrivenChild {
    const ended = run.ended.then(async ({ how }) => {
      await close();
      const row = await childOf(this.#setting.workspace.journal, runId);
      const endedMs = instantOf(row?.endedAt) ?? Date.now();
      return { result: how === 'ended' ? row?.result : undefined, endedMs, cause: row?.cause };
    });
    return {
      runId,
      startedMs: instantOf(run.state().entries[0]?.at) ?? Date.now(),
      state: () => childSnapshot(run.state()),
      subscribe: (listener) => run.subscribe(listener),
      answer: (answer) => run.answer(answer),
      wake: () => run.wake(),
      detach: (why) => run.detach(why),
      ended,
    };
  }
}
