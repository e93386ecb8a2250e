import { runbookOf } from '../../../machines/index.ts';
import type { PlanInput } from '../../../machines/parts/plan.ts';
import { failureOf } from '../../base/errors.ts';
import { instancesOfRun, openInstances } from '../../compose/instances.ts';
import { questionOf } from '../../runner/answer.ts';
import { inputOf } from '../../runner/run-log.ts';
import { workersOf } from '../../runner/wakes.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import type { RunProgress } from '../../store/projections/runs.ts';
import type { PlanChild } from '../../store/run-entries.ts';
import type { Driven } from '../../workers/worker.ts';
import { ChildRuns } from '../plans/child-runs.ts';
import { drivePlan } from '../plans/drive-plan.ts';
import { FlagAnswers } from '../plans/flag-answers.ts';
import { waitsFor } from '../plans/follow-plan.ts';
import { atOnce, type PlanSetting } from '../plans/plan-setting.ts';
import { takenWishes, takeWishes } from '../plans/wishes.ts';
import { autopilot } from '../run/autopilot.ts';
import { otherVersion, takeUpRun } from '../run/drive.ts';
import { followAsChild } from './follow-as-child.ts';
import type { PlanRecords } from './plan-records.ts';
import { untilResting } from './until-resting.ts';

/** Until the run is over or waits for a person. Rejects as `takeUp` does, with nothing taken. */
export async function driveLeft(setting: PlanSetting, run: RunProgress, plans: PlanRecords): Promise<Driven> {
  const entries = await setting.workspace.journal.read(`run/${run.runId}`);
  if (run.runbook === 'plan') return drivePlanRun(setting, run.runId, entries, plans);
  const child = fieldsOf(entries[0]?.body)['plan'] as PlanChild | undefined;
  return child === undefined ? driveAlone(setting, run, entries) : driveChild(setting, child, plans);
}

/** The run of a plan. Its children are driven elsewhere, so it rests all the time. */
async function drivePlanRun(
  setting: PlanSetting,
  runId: string,
  entries: readonly Entry[],
  plans: PlanRecords,
): Promise<Driven> {
  const { journal } = setting.workspace;
  const driven = await drivePlan(setting, runId, inputOf(entries) as unknown as PlanInput);
  const { run, conductor } = driven;
  const noLonger = plans.drives(runId, run);
  const { yes = false, confirm = [] } = workersOf(entries) ?? {};
  const leave = (why: string, awaits?: 'person') => conductor.leave(why, awaits).catch(() => undefined);
  const refused = (thrown: unknown) => void leave(failureOf(thrown).shortMessage, 'person');
  const answers = new FlagAnswers(run, { confirm, yes }, refused);
  const unsubscribe = conductor.subscribe(() => {
    if (answers.give() || answers.isAnswering) return;
    const waiting = conductor.waiting();
    // With such a time, or such a run, the plan goes on by itself, and nobody else sees that it may.
    if (waiting === undefined || waiting.untilMs !== undefined || waiting.isBlocked) return;
    const { snapshot } = run.state();
    void leave(waitsFor(questionOf(snapshot), conductor.children(), snapshot.context), 'person');
  });
  const stop = new AbortController();
  const wishes = takeWishes(journal, runId, conductor, takenWishes(run.state().entries), stop.signal);
  wishes.catch((thrown: unknown) =>
    stop.signal.aborted ? undefined : leave(failureOf(thrown).shortMessage),
  );
  const drive = async () => {
    try {
      await conductor.run();
      await run.ended;
    } finally {
      stop.abort();
      noLonger();
      unsubscribe();
      await driven[Symbol.asyncDispose]();
    }
  };
  return {
    over: drive(),
    resting: Promise.resolve(),
    leave: (why) => conductor.leave(why),
  };
}

/** The run of a plan's step: the plan answers what it asks, as far as it can. */
async function driveChild(setting: PlanSetting, child: PlanChild, plans: PlanRecords): Promise<Driven> {
  const { run: planRun, ...start } = child;
  const { input, workers } = await plans.of(planRun);
  const runs = new ChildRuns(setting, { runId: planRun, input, workers });
  const driven = await runs.begin(start);
  const over = followAsChild(driven, start, () => plans.of(planRun)).finally(() => runs.close());
  return {
    over,
    resting: untilResting({
      activity: () => driven.state().activity,
      subscribe: (listener) => driven.subscribe(listener),
    }),
    leave: (why) => driven.detach(why),
  };
}

/** A run of its own, with the answers that were given in advance. */
async function driveAlone(
  setting: PlanSetting,
  run: RunProgress,
  entries: readonly Entry[],
): Promise<Driven> {
  const { context, config, workspace, inTurn = atOnce } = setting;
  const runbook = runbookOf(run.runbook, run.version);
  if (runbook === undefined) throw otherVersion(run);
  const wish = await instancesOfRun(workspace.journal, run, undefined);
  const instances = await openInstances(context, config, workspace, wish);
  try {
    const how = { runbook, leaveWhenPaused: false, leaveGraceMs: setting.leaveGraceMs };
    const { run: taken } = await inTurn(() => takeUpRun(context, instances, workspace, run, how));
    const { yes = false, confirm = [] } = workersOf(entries) ?? {};
    // The record has to say that it is left: the run would keep its place, and be tried again too soon.
    let isLeft = false;
    const leaveIfPaused = () => {
      const { paused } = taken.state();
      // To leave tells the subscribers again.
      if (paused === undefined || isLeft) return;
      isLeft = true;
      void taken.detach(paused.shortMessage).catch(() => undefined);
    };
    const unsubscribe = taken.subscribe(leaveIfPaused);
    leaveIfPaused();
    const over = autopilot(taken, { yes, confirm: confirm[0] }).finally(() => {
      unsubscribe();
      return instances[Symbol.asyncDispose]();
    });
    return {
      over: over.then(() => undefined),
      resting: untilResting({
        activity: () => taken.state().activity,
        subscribe: (listener) => taken.subscribe(listener),
      }),
      leave: (why) => taken.detach(why),
    };
  } catch (thrown) {
    await instances[Symbol.asyncDispose]();
    throw thrown;
  }
}
