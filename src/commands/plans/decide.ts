import type { PlanInput } from '../../../machines/parts/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { fitOf } from '../../plans/decision-fit.ts';
import { allGroupsOf } from '../../plans/facts.ts';
import { fold } from '../../runner/fold.ts';
import type { JournalReader } from '../../store/journal.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import { type DrivenPlan, drivePlan } from './drive-plan.ts';
import { findPlanRun } from './find-plan-run.ts';
import type { PlanSetting } from './plan-setting.ts';
import { standingOf } from './show.ts';
import { leftWords } from './step-words.ts';
import { takenWishes, takeWishesOnRecord, untilTaken, type Wish, writeWish } from './wishes.ts';

interface DecisionFlags {
  readonly reason?: string;
  readonly proof?: string;
}

/** Where a decision applies: `GROUP`, `GROUP/INSTANCE` or `GROUP/INSTANCE/STEP`. */
interface Where {
  readonly group: string;
  readonly lane: string;
  readonly step: string;
}

/** `lifeboat plans pause RUN GROUP`: nothing new starts in the group; what is under way ends. */
export const plansPause: Action<DecisionFlags> = (context, words, flags) =>
  decide(context, words, 'group', ({ group }) => ({
    event: { type: 'operator.pauseGroup', group, text: reasonIn(flags) },
    label: `pause group ${group}`,
  }));

/** `lifeboat plans resume RUN GROUP`: the group continues, without the lanes that have failed. */
export const plansResume: Action<DecisionFlags> = (context, words) =>
  decide(context, words, 'group', ({ group }) => ({
    event: { type: 'operator.resumeGroup', group },
    label: `let group ${group} continue`,
  }));

/** `lifeboat plans stop RUN [GROUP]`: the group, or the whole plan, ends when what is under way has ended. */
export const plansStop: Action<DecisionFlags> = (context, words, flags) =>
  words[1] === undefined
    ? decide(context, words, 'plan', () => ({
        event: { type: 'operator.stop', text: reasonIn(flags) },
        label: 'stop the plan',
      }))
    : decide(context, words, 'group', ({ group }) => ({
        event: { type: 'operator.stopGroup', group, text: reasonIn(flags) },
        label: `stop group ${group}`,
      }));

/** `lifeboat plans skip RUN GROUP/INSTANCE/STEP`: the instance continues with its next step. */
export const plansSkip: Action<DecisionFlags> = (context, words, flags) =>
  decide(context, words, 'step', ({ group, lane, step }) => ({
    event: { type: 'operator.skipStep', group, lane, step, text: reasonIn(flags) },
    label: `skip ${group}/${lane}/${step}`,
  }));

/** `lifeboat plans done RUN GROUP/INSTANCE/STEP`: the step counts as done, on a person's word. */
export const plansDone: Action<DecisionFlags> = (context, words, flags) =>
  decide(context, words, 'step', ({ group, lane, step }) => ({
    event: { type: 'operator.doneOutside', group, lane, step, text: given(flags.proof, '--proof TEXT') },
    label: `${group}/${lane}/${step} was done outside`,
  }));

/**
 * `lifeboat plans retry RUN [GROUP/INSTANCE/STEP]`: a failed step is tried again, in a run of its own;
 * without one, the instances are looked at again, some of which could not be recovered.
 */
export const plansRetry: Action<DecisionFlags> = (context, words) =>
  words[1] === undefined
    ? decide(context, words, 'plan', () => ({
        event: { type: 'operator.evaluateAgain' },
        label: 'look at the instances again',
      }))
    : decide(context, words, 'step', ({ group, lane, step }) => ({
        event: { type: 'operator.tryAgain', group, lane, step },
        label: `try ${group}/${lane}/${step} again`,
      }));

/** `lifeboat plans take-out RUN GROUP/INSTANCE`: the plan goes on without the instance. */
export const plansTakeOut: Action<DecisionFlags> = (context, words, flags) =>
  decide(context, words, 'lane', ({ group, lane }) => ({
    event: { type: 'operator.takeOut', group, lane, text: reasonIn(flags) },
    label: `take ${lane} out of ${group}`,
  }));

/** `lifeboat plans take-up RUN GROUP/INSTANCE`: the plan continues with an instance that was taken out. */
export const plansTakeUp: Action<DecisionFlags> = (context, words) =>
  decide(context, words, 'lane', ({ group, lane }) => ({
    event: { type: 'operator.takeUp', group, lane },
    label: `take ${lane} up again in ${group}`,
  }));

/** `lifeboat plans source RUN up|down`: whether steps with `when` belong to the rest of the run. */
export const plansSource: Action<DecisionFlags> = (context, words) =>
  decide(context, words, 'plan', () => {
    const source = words[1];
    if (source !== 'up' && source !== 'down')
      throw usage('the source is up or down', ['nothing was changed']);
    return { event: { type: 'operator.setSource', source }, label: `the source is ${source}` };
  });

/**
 * Gives a decision to the run of a plan: through its record while another process drives it, else at once.
 * Rejects if it was not taken, so that exit 0 means that it counts.
 */
async function decide(
  context: CommandContext,
  [word, place]: readonly string[],
  what: 'plan' | 'group' | 'lane' | 'step',
  wishOf: (where: Where) => Wish,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const { summary, input, entries } = await findPlanRun(workspace.journal, word);
    const { runId, status } = summary;
    if (status !== 'open')
      throw usage(`the run of the plan is ${status}`, [`read it with: lifeboat audit show ${runId}`]);
    const wish = wishOf(what === 'plan' ? NOWHERE : placeIn(input, place ?? '', what));
    const fit = fitOf(fold(planRunbook, input, entries).snapshot, wish.event);
    if (fit.is === 'misfit')
      throw new LifeboatError('plan.refused', fit.why, {
        hints: ['nothing was changed', `where each group stands: lifeboat plans show ${runId}`],
        exitCode: EXIT.usage,
      });
    const isSo = fit.is === 'so-already' ? fit.why : await soByItself(workspace.journal, runId, wish.event);
    if (isSo !== undefined) {
      context.stderr.write(`nothing was changed: ${show(isSo, 300)}\n`);
      await tellDecision(context, workspace.journal, runId, wish, false);
      return EXIT.closed;
    }
    await putOnRecord({ context, config, workspace }, runId, input, wish);
    await tellDecision(context, workspace.journal, runId, wish, true);
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
}

/**
 * Has a decision counted: here, or by the process that has the run. Where that one does not take it, it may
 * be dead: then the decision counts here, once the hold has expired. Rejects as `untilTaken` does.
 */
async function putOnRecord(setting: PlanSetting, runId: string, input: PlanInput, wish: Wish): Promise<void> {
  const { journal } = setting.workspace;
  if (await takenHere(setting, runId, input, ({ conductor }) => conductor.decide(wish.event, wish.label)))
    return;
  const number = await writeWish(journal, runId, wish);
  try {
    await untilTaken(journal, runId, number);
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'plan.not-taken') throw thrown;
    const isTaken = await takenHere(setting, runId, input, async ({ conductor, run }) => {
      await takeWishesOnRecord(journal, runId, conductor, takenWishes(run.state().entries));
    });
    if (!isTaken) throw thrown;
    await untilTaken(journal, runId, number);
  }
}

/**
 * Takes up the run of a plan, lets `decide` decide, and leaves it; false while another process has it. A look
 * at its holder would not do: a worker may take it between that and this.
 */
async function takenHere(
  setting: PlanSetting,
  runId: string,
  input: PlanInput,
  decide: (driven: DrivenPlan) => Promise<void>,
): Promise<boolean> {
  let driven: DrivenPlan;
  try {
    driven = await drivePlan(setting, runId, input);
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.held') return false;
    throw thrown;
  }
  await using taken = driven;
  await decide(taken).finally(() => taken.run.detach('the decision is on record'));
  return true;
}

/** Says that a decision is on record, and which run of the step still has to be answered. */
async function tellDecision(
  context: CommandContext,
  journal: JournalReader,
  runId: string,
  { event, label }: Wish,
  changed: boolean,
): Promise<void> {
  const open = await stillToAnswer(journal, runId, event);
  const result = { runId, decision: label, changed, ...(open === undefined ? {} : { open }) };
  await printResult(context, 'plan-decision', result, () => {
    if (changed) context.stdout.write(`${show(label, 200)}: on record\n`);
    if (open === undefined || !('step' in event)) return;
    context.stdout.write(
      `its run offers no end, and the instance goes on when it is answered: ${leftWords(event, open)}\n` +
        `to answer: lifeboat resume ${open.runId}\n`,
    );
  });
}

/** The run of a step that was passed, which goes on asking: nothing that it offers ends it. */
async function stillToAnswer(
  journal: JournalReader,
  runId: string,
  event: Wish['event'],
): Promise<ResultOf<'plan-decision'>['open']> {
  if (event.type !== 'operator.skipStep' && event.type !== 'operator.doneOutside') return undefined;
  const { lanes } = await standingOf(journal, runId);
  const mine = lanes.find(({ group, instance }) => group === event.group && instance === event.lane);
  return mine?.left?.find(({ step }) => step === event.step);
}

/** Why a step needs no decision, because its run has done it; undefined for any other. */
async function soByItself(
  journal: Pick<JournalReader, 'rows'>,
  runId: string,
  event: Wish['event'],
): Promise<string | undefined> {
  if (event.type !== 'operator.skipStep' && event.type !== 'operator.doneOutside') return undefined;
  const { group, lane, step } = event;
  const rows = await childrenOf(journal, runId);
  const last = rows.findLast((row) => row.group === group && row.lane === lane && row.step === step);
  return last?.result === 'done' ? `${group}/${lane}/${step} is done, by run ${last.runId}` : undefined;
}

const NOWHERE: Where = { group: '', lane: '', step: '' };

/** Reads `GROUP[/INSTANCE[/STEP]]`, against the plan; its checks of health and last steps are groups, too. */
function placeIn(input: PlanInput, place: string, what: 'group' | 'lane' | 'step'): Where {
  const groups = allGroupsOf({ input });
  const [group = '', ...rest] = place.split('/');
  const found = groups.find(({ id }) => id === group);
  if (found === undefined)
    throw unknown(
      'group',
      group,
      groups.map(({ id }) => id),
    );
  if (what === 'group') return { group, lane: '', step: '' };
  const isLane = (name: string | undefined) => found.lanes.some((lane) => lane.name === name);
  // In a group without instances there is nothing to name but the step.
  const [lane = '', step = ''] = found.for === undefined && !isLane(rest[0]) ? ['-', ...rest] : rest;
  if (!isLane(lane))
    throw unknown(
      'instance',
      lane,
      found.lanes.map(({ name }) => name),
    );
  if (what === 'lane') return { group, lane, step: '' };
  if (!found.steps.some(({ id }) => id === step))
    throw unknown(
      'step',
      step,
      found.steps.map(({ id }) => id),
    );
  return { group, lane, step };
}

function unknown(what: string, name: string, known: readonly string[]): LifeboatError {
  return usage(name === '' ? `name the ${what}` : `the plan has no ${what} ${show(name, 60)} there`, [
    ...mostSimilar(name, known),
    `it has: ${known.slice(0, 20).join(', ')}`,
    'nothing was changed',
  ]);
}

function reasonIn({ reason }: DecisionFlags): string {
  return given(reason, '--reason TEXT');
}

function given(text: string | undefined, flag: string): string {
  if (text !== undefined && text.trim() !== '') return text.trim();
  throw usage(`it needs ${flag}`, ['nothing was changed', 'the report shows it']);
}

function usage(shortMessage: string, hints: readonly string[]): LifeboatError {
  return new LifeboatError('usage.plan', shortMessage, { hints, exitCode: EXIT.usage });
}
