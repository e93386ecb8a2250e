import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionKey } from '../../../machines/parts/question.ts';
import type { PlannedCall, Runbook } from '../../../machines/parts/runbook.ts';
import { mainPathOf, statePath } from '../../../machines/parts/states.ts';
import { effectOf } from '../../../machines/verbs.ts';
import type { ActivityContext, AnyActivity } from '../../activities/activity.ts';
import { errorFrom, failureOf } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import type { CommandContext } from '../../cli/context.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { openInstances, type RunInstances } from '../../compose/instances.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import { chosenInstance } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { decide, questionOf } from '../../runner/answer.ts';
import { type Folded, fold, type MachineEvent, step } from '../../runner/fold.ts';
import { routeAt } from '../../service/revisions.ts';
import type { UsualTimes } from '../../view/app/usual-times.ts';
import { plannedSteps } from '../../view/dry-run-view.ts';
import type { PlannedStep } from '../../view/plan-schema.ts';
import { approvalsOnPath, type NeededApproval } from '../approvals/required.ts';
import { assertSupported } from './assert-supported.ts';
import { earlierTimes } from './history.ts';
import { changedInstance, type GivenFlags, inputFrom, targetsIn, withAction } from './run-input.ts';

/** What a run would do, and what blocks it now. */
export interface FoundDryRun {
  readonly runbook: Runbook;
  readonly names: { readonly instance: string; readonly target: string | undefined };
  /** Whether the run loses data; only then does a step that is confirmed by name destroy something. */
  readonly losesData: boolean;
  readonly steps: readonly PlannedStep[];
  readonly found: DryRun;
  readonly approvals: readonly NeededApproval[];
  /** How long earlier runs of the same kind took; undefined without a journal. */
  readonly usual: UsualTimes | undefined;
}

/**
 * Finds out what a run with these flags would do, by GETs alone; leaves nothing behind. `keys` opens the key
 * store; without a `signal`, the process's signals stop it. Rejects if the run would be refused, and if the
 * service refuses the credentials.
 */
export async function findDryRun(
  context: CommandContext,
  config: LoadedConfig,
  [name = '']: readonly string[],
  given: GivenFlags & { readonly tokenFile?: string },
  { keys, signal }: { readonly keys: () => Promise<Keyring>; readonly signal?: AbortSignal },
): Promise<FoundDryRun> {
  const runbook = runbookNamed(name);
  const named = { ...given, instance: chosenInstance(config, given.instance) };
  changedInstance(config, named);
  const flags = await withAction(context, runbook, named);
  const input = await inputFrom(runbook, flags, new Date(), false, targetsIn(config));
  const touches = runbook.touches(input);
  const keyring = await keys();
  await using instances = await openInstances(
    context,
    config,
    { keyring },
    {
      instance: flags.instance,
      target: flags.target,
      tokenFile: flags.tokenFile,
      source: touches.source,
    },
  );
  assertSupported(runbook, instances, input);
  const { found, usual } = await lookAround(context, runbook, input, instances, keyring, signal);
  const names = { instance: flags.instance, target: flags.target };
  // Follow the path with what was found: a question that a flag has answered is not asked.
  const path = mainPathOf(runbook.machine, found.context);
  const routeFor = ({ method, path: below, on }: PlannedCall) =>
    routeAt(
      method,
      below,
      (on === 'target' ? (instances.target ?? instances.instance) : instances.instance).revision,
    );
  const steps = plannedSteps(runbook, names, path, routeFor);
  const approvals = approvalsOnPath(config, runbook, path, names);
  return { runbook, names, losesData: touches.lost !== 'nothing', steps, found, approvals, usual };
}

async function lookAround(
  context: CommandContext,
  runbook: Runbook,
  input: Readonly<Record<string, unknown>>,
  instances: RunInstances,
  keyring: Keyring,
  given: AbortSignal | undefined,
): Promise<Pick<FoundDryRun, 'found' | 'usual'>> {
  const { activitiesFor } = await import('../../activities/index.ts');
  const journal = await openJournalIfAny(context);
  const stop = given === undefined ? stopSignal() : { signal: given, release: () => undefined };
  // Nothing that a look would keep for later, such as the parameters of bindings, is needed here.
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-dry-run-'));
  try {
    const home = homeFolder(context.env);
    const setup = { home, folder, keyring, journal, platform: instances.platform };
    const activities = activitiesFor({
      instance: depsFor(instances.instance, setup),
      target: instances.target && depsFor(instances.target, setup),
    });
    const instance = instances.instance.name;
    const found = await dryRun(runbook, input, activities, { instance, signal: stop.signal });
    const { mode, action } = input;
    return { found, usual: journal && (await earlierTimes(journal, runbook, { mode, action })) };
  } finally {
    stop.release();
    await journal?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** How far a run would get by looking alone, and what it would know then. */
interface DryRun {
  readonly state: string;
  readonly context: unknown;
  /** The obstacle that a look found. */
  readonly failure: Failure | undefined;
  /** The question that a person must answer before the dry run can see more. */
  readonly asks: string | undefined;
}

/** A machine that asks and looks in a loop must not keep a dry run going forever. */
const MAX_STEPS = 60;

/**
 * Takes a machine as far as looking gets it: performs what only reads, answers questions with their
 * recommendation, and stops before any change and at the first question without one. Journals nothing.
 * Rejects when the service refuses the credentials.
 */
async function dryRun(
  runbook: Runbook,
  input: unknown,
  activities: Readonly<Record<string, AnyActivity>>,
  context: Pick<ActivityContext, 'instance' | 'signal'>,
): Promise<DryRun> {
  let folded = fold(runbook, input, []);
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const event = (await look(folded, activities, context)) ?? (await recommended(folded));
    if (event === undefined || folded.snapshot.hasTag('failed' as never)) break;
    folded = step(runbook, folded, event);
  }
  const { snapshot } = folded;
  const failure = snapshot.hasTag('failed' as never) ? runbook.failure(snapshot.context as never) : undefined;
  const asks = failure === undefined ? questionOf(snapshot)?.prompt : undefined;
  return { state: statePath(snapshot), context: snapshot.context, failure, asks };
}

async function look(
  { invocation }: Folded,
  activities: Readonly<Record<string, AnyActivity>>,
  { instance, signal }: Pick<ActivityContext, 'instance' | 'signal'>,
): Promise<MachineEvent | undefined> {
  if (invocation === undefined || effectOf(invocation.verb) === 'download') return undefined;
  const activity = activities[invocation.verb];
  if (activity?.kind !== 'read') return undefined;
  const result = await activity
    .run(invocation.input as never, {
      runId: 'dry-run',
      instance,
      signal,
      now: () => new Date(),
      report: () => undefined,
    })
    .catch((thrown: unknown) => ({ ok: false as const, failure: failureOf(thrown) }));
  if (result.ok)
    return { type: `xstate.done.actor.${invocation.id}`, output: result.output, actorId: invocation.id };
  const { failure } = result;
  if (failure.code.startsWith('credentials.')) throw errorFrom(failure);
  return { type: `xstate.error.actor.${invocation.id}`, error: failure, actorId: invocation.id };
}

/** The recommended answer, if the question has one that needs no typed words. */
async function recommended({ snapshot }: Folded): Promise<MachineEvent | undefined> {
  const question = questionOf(snapshot);
  if (question?.kind !== 'choice') return undefined;
  const option = question.options.find((one) => one.recommended && one.disabled === undefined && !one.needs);
  if (option === undefined) return undefined;
  const { event } = await decide(snapshot, { event: optionKey(option.event) }, noSecret);
  return event;
}

function noSecret(): never {
  throw new Error('a dry run takes no secrets');
}
