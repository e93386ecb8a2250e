import { planStep } from '../../../machines/index.ts';
import type { PlanInput, Step } from '../../../machines/parts/plan.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { outsideActivities } from '../../activities/outside/ask-outside.ts';
import { LifeboatError } from '../../base/errors.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { show } from '../../base/text.ts';
import { openInstances, type RunInstances, servicesOfRun } from '../../compose/instances.ts';
import { tokenVariables } from '../../config/loaded.ts';
import { childRunId } from '../../plans/child-id.ts';
import type { DrivenChild } from '../../plans/conductor-port.ts';
import { placeOf } from '../../plans/facts.ts';
import type { Start } from '../../plans/schedule.ts';
import type { Run, RunDeps } from '../../runner/run.ts';
import { startRun } from '../../runner/runs.ts';
import { takeUp } from '../../runner/take-up.ts';
import type { Hold, Json } from '../../store/journal.ts';
import { childOf } from '../../store/projections/plan-children.ts';
import type { ForWorkers } from '../../store/run-entries.ts';
import { gateOfRun } from '../approvals/gate-of-run.ts';
import { presentOf } from '../approvals/present.ts';
import { takeUpRun } from '../run/drive.ts';
import { inSeconds } from '../run/run.ts';
import { clockMark, watchClock } from '../run/watch-clock.ts';
import { childSnapshot } from './child-snapshot.ts';
import { confirmWhenSigned } from './confirm-when-signed.ts';
import { atOnce, type PlanSetting } from './plan-setting.ts';
import { NOTHING_ASKED } from './snapshot-on-record.ts';
import { type StepRun, stepRunOf } from './step-run.ts';

interface ChildRun extends StepRun {
  readonly step: Step;
}

export class ChildRuns {
  readonly #setting: PlanSetting;
  readonly #planRun: string;
  readonly #input: PlanInput;
  readonly #open = new Set<RunInstances>();
  readonly #workers: ForWorkers | undefined;
  readonly #under: readonly Hold[];

  /**
   * `workers`: whether they are left to the workers when they begin. `under`: the holds of the plan's run;
   * what a process decided that has lost them does not begin.
   */
  constructor(
    setting: PlanSetting,
    {
      runId,
      input,
      workers,
      under = [],
    }: {
      readonly runId: string;
      readonly input: PlanInput;
      readonly workers?: ForWorkers | undefined;
      readonly under?: readonly Hold[];
    },
  ) {
    this.#setting = setting;
    this.#planRun = runId;
    this.#input = input;
    this.#workers = workers;
    this.#under = under;
  }

  /** Begins the run of a step if it is not begun, and takes it up. */
  async begin(start: Start): Promise<DrivenChild> {
    const over = await this.#over(start);
    if (over !== undefined) return over;
    const run = this.#runOf(start);
    await this.#start(start, run);
    return run.step.kind === 'runbook' ? this.#runbook(start, run) : this.#step(start, run);
  }

  /** Begins the run of a step if it is not begun, and leaves it to the workers; resolves with its id. */
  async leaveToWorkers(start: Start): Promise<string> {
    return this.#start(start, this.#runOf(start));
  }

  #runOf(start: Start): ChildRun {
    const { group, step, lane } = placeOf(this.#input, start);
    const { config } = this.#setting;
    const { plan, rehearsal, incidentAt } = this.#input;
    if (step.kind === 'runbook') {
      const run = stepRunOf(step, lane, config, incidentAt);
      this.#assertMayChange(run.runbook, run.input as object, run.target ?? run.instance, run.rehearsal);
      return { ...run, step };
    }
    const instance = group.for === undefined ? planSubject(plan.plan) : (lane.target ?? lane.name);
    const input = { instance, step, objectives: plan.objectives, rehearsal } as unknown as Json;
    return { runbook: planStep, instance, target: undefined, input, rehearsal, step };
  }

  /** A step whose run has ended, perhaps in another process; undefined for any other. */
  async #over(start: Start): Promise<DrivenChild | undefined> {
    const runId = childRunId(this.#planRun, start);
    const row = await childOf(this.#setting.workspace.journal, runId);
    if (row?.result === undefined) return undefined;
    const ended = Promise.resolve({ result: row.result, endedMs: msOf(row.endedAt), cause: row.cause });
    return {
      runId,
      startedMs: msOf(row.startedAt),
      state: () => ({ ...NOTHING_ASKED, where: row.where }),
      subscribe: () => () => undefined,
      answer: () => Promise.reject(new Error('the run is over')),
      wake: () => undefined,
      detach: async () => undefined,
      ended,
    };
  }

  async close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    await Promise.all(open.map((one) => one[Symbol.asyncDispose]()));
  }

  async #runbook(start: Start, { runbook, instance, target, input }: ChildRun): Promise<DrivenChild> {
    const { context, config, workspace, leaveGraceMs, inTurn = atOnce } = this.#setting;
    const runId = childRunId(this.#planRun, start);
    const named = { instance, target };
    const instances = await openInstances(context, config, workspace, {
      ...named,
      source: runbook.touches(input as object).source,
    });
    this.#open.add(instances);
    const close = async () => {
      this.#open.delete(instances);
      await instances[Symbol.asyncDispose]();
    };
    const summary = { ...named, runId, runbook: runbook.id, version: runbook.version };
    try {
      const how = { runbook, leaveWhenPaused: false, leaveGraceMs };
      const { run } = await inTurn(() => takeUpRun(context, instances, workspace, summary, how));
      return this.#driven(runId, run, close);
    } catch (thrown) {
      await close();
      throw thrown;
    }
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

  async #step(start: Start, { instance }: ChildRun): Promise<DrivenChild> {
    const { context, config, workspace, leaveGraceMs, inTurn = atOnce } = this.#setting;
    const runId = childRunId(this.#planRun, start);
    const summary = { runId, runbook: planStep.id, version: planStep.version, instance };
    const gate = await gateOfRun(context, config, workspace, summary, planStep, undefined);
    const { journal, sealer } = workspace;
    const deps: RunDeps = {
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
      leaveGraceMs,
    };
    const run = await inTurn(() => takeUp(deps));
    const stop = await confirmWhenSigned(run, gate);
    return this.#driven(runId, run, async () => stop());
  }

  /** To one target of the config, or all; resolves with those that took it. */
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

  async #start(start: Start, { runbook, instance, target, input, rehearsal }: ChildRun): Promise<string> {
    const { context, config, workspace } = this.#setting;
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
      workers: this.#workers,
      under: this.#under,
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
