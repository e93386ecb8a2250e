import type { PlanInput } from '../../../machines/parts/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { lazyPlatform } from '../../compose/instances.ts';
import { childRunId } from '../../plans/child-id.ts';
import { Conductor } from '../../plans/conductor.ts';
import type { ConductorPort, RecordedChild } from '../../plans/conductor-port.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Run } from '../../runner/run.ts';
import { takeUp } from '../../runner/take-up.ts';
import { workersOf } from '../../runner/wakes.ts';
import { childOf, childrenOf } from '../../store/projections/plan-children.ts';
import { gateOfRun } from '../approvals/gate-of-run.ts';
import { watchClock } from '../run/watch-clock.ts';
import { ChildRuns } from './child-runs.ts';
import { changesSince } from './child-snapshot.ts';
import { confirmWhenSigned } from './confirm-when-signed.ts';
import { evaluateLanes } from './evaluate-lanes.ts';
import { LeftChildren } from './left-children.ts';
import type { PlanSetting } from './plan-setting.ts';
import { snapshotOnRecord } from './snapshot-on-record.ts';

export interface DrivenPlan extends AsyncDisposable {
  readonly run: Run;
  readonly conductor: Conductor;
}

/** With everything open in it. Rejects with `journal.held`. Sends nothing before `conductor.run`. */
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
  const workers = workersOf(run.state().entries);
  const children = new ChildRuns(setting, { runId, input, workers, under: run.holds });
  opened.defer(() => children.close());
  const left = workers === undefined ? undefined : await LeftChildren.of(journal, children);
  opened.defer(() => left?.close());
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
      detach: (why, awaits) => run.detach(why, awaits),
    },
    children: async () => (await childrenOf(journal, runId)) as readonly RecordedChild[],
    child: async (id) => (await childOf(journal, id)) as RecordedChild | undefined,
    recorded: async (start) =>
      (await childOf(journal, childRunId(runId, start))) as RecordedChild | undefined,
    onRecord: (id) => snapshotOnRecord(journal, id),
    begin: (start) => (left ?? children).begin(start),
    evaluate: () =>
      evaluateLanes(setting, input, { platform: platform.platform, isHere: workers === undefined }),
    differences: changesSince,
    now: () => Date.now(),
  };
  const kept = opened.move();
  return { run, conductor: new Conductor(port), [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
