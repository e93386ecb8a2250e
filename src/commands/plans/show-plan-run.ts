import { type ExitCode, failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { EarlySignals } from '../../cli/stop-signal.ts';
import type { showPlan } from '../../tui/show-plan.ts';
import { leftBySignal } from '../../view/run-port.ts';
import type { DrivenPlan } from './drive-plan.ts';
import { FlagAnswers } from './flag-answers.ts';
import { planPortOf } from './plan-port.ts';
import type { PlanSetting } from './plan-setting.ts';
import type { PlanFlags } from './run.ts';
import { takenWishes, takeWishes } from './wishes.ts';

/** Takes the whole terminal; gives whether it is gone. */
async function onOwnScreen(...shown: Parameters<typeof showPlan>): Promise<boolean> {
  const { showPlan: take } = await import('../../tui/show-plan.ts');
  return (await take(...shown)).isLost;
}

/**
 * Drives a plan on the full screen until a person leaves it, or until it is over and was read. Then it says
 * on stdout how it ended, or how it goes on. Resolves with the exit code, that of a run.
 */
export async function showPlanRun(
  { context, config, workspace }: PlanSetting,
  driven: DrivenPlan,
  { confirm = [] }: PlanFlags,
  early: EarlySignals,
): Promise<ExitCode> {
  const { run, conductor } = driven;
  const { runId, entries } = run.state();
  const { journal, keyring } = workspace;
  const leave = (thrown: unknown) => conductor.leave(failureOf(thrown).shortMessage).catch(() => undefined);
  // A refusal, such as a missing approval, leaves the question to the person at the screen.
  const answers = new FlagAnswers(run, { confirm, yes: false }, () => undefined);
  const unsubscribe = conductor.subscribe(() => void answers.give());
  const stop = new AbortController();
  takeWishes(journal, runId, conductor, takenWishes(entries), stop.signal).catch((thrown: unknown) =>
    stop.signal.aborted ? undefined : leave(thrown),
  );
  const came = early.release();
  const driving = conductor.run();
  // The screen reports it; without one, it is awaited below.
  driving.catch(() => undefined);
  const port = planPortOf(driven, journal, driving);
  port.ended.catch(() => undefined);
  try {
    if (came !== undefined) await conductor.leave(leftBySignal(came));
    const { connect, screen: app } = context;
    const isLost = await (app === undefined
      ? onOwnScreen(port, context, connect && ((screen) => connect({ ...context, keyring }, config, screen)))
      : app.showPlan(port).then(() => false));
    if (app !== undefined) await conductor.leave('the screen was left');
    const { exitCode, how } = await port.ended;
    // The app still shows what became of it.
    if (isLost || app !== undefined) return exitCode as ExitCode;
    const { plan, outcome } = port.view();
    const left = `plan ${plan} was left; to go on: lifeboat resume ${runId}`;
    context.stdout.write(`${show(how === 'ended' ? (outcome?.title ?? 'over') : left, 300)}\n`);
    return exitCode as ExitCode;
  } finally {
    stop.abort();
    unsubscribe();
  }
}
