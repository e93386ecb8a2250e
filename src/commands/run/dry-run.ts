import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionKey } from '../../../machines/parts/question.ts';
import type { PlannedCall, Runbook } from '../../../machines/parts/runbook.ts';
import { mainPathOf, statePath } from '../../../machines/parts/states.ts';
import { effectOf } from '../../../machines/verbs.ts';
import type { ActivityContext, AnyActivity } from '../../activities/activity.ts';
import { EXIT, errorFrom, failureOf } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { openInstances, type RunInstances } from '../../compose/instances.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { decide, questionOf } from '../../runner/answer.ts';
import { type Folded, fold, type MachineEvent, step } from '../../runner/fold.ts';
import { routeAt } from '../../service/revisions.ts';
import { type UsualTimes, usualWords } from '../../view/app/usual-times.ts';
import { plannedSteps } from '../../view/dry-run-view.ts';
import type { PlannedStep } from '../../view/plan-schema.ts';
import { viewFact } from '../../view/view-outcome.ts';
import { approvalsOnPath, type NeededApproval } from '../approvals/required.ts';
import { assertSupported } from './assert-supported.ts';
import { earlierTimes } from './history.ts';
import { changedInstance, type GivenFlags, inputFrom, targetsIn, withAction } from './run-input.ts';

/**
 * `lifeboat run RUNBOOK --dry-run`: prints what a run would do, call by call, and what it finds now. Sends
 * only GETs and leaves nothing behind. Exit 1 when something blocks the run.
 */
export const printDryRun: Action<GivenFlags & { readonly tokenFile?: string }> = async (
  context,
  words,
  given,
) => {
  const runbook = runbookNamed(words[0] ?? '');
  const config = await loadConfig(context.env, context.configPath);
  const before = await findDryRun(context, config, [runbook.id], given, { keys: () => openKeys(context) });
  await printResult(context, 'dry-run', resultOf(before), () => print(context, before));
  return before.found.failure === undefined ? EXIT.closed : EXIT.failed;
};

function resultOf({ runbook, names, steps, found, approvals, usual }: FoundDryRun): ResultOf<'dry-run'> {
  const { id, version } = runbook;
  const { state, context, failure, asks } = found;
  const facts = runbook.facts(context as never);
  const { wholeSeconds: seconds, runs = 0 } = usual ?? {};
  return {
    runbook: id,
    version,
    ...names,
    steps,
    approvals,
    found: { state, facts, inTheWay: failure, asks },
    ...(seconds === undefined ? {} : { usual: { seconds, runs } }),
  };
}

function print(
  context: CommandContext,
  { runbook, names, losesData, steps, found, approvals, usual }: FoundDryRun,
): void {
  const { stdout } = context;
  const { instance, target } = names;
  stdout.write(
    `${runbook.title}\ninstance: ${instance}\n${target === undefined ? '' : `target: ${target}\n`}\n`,
  );
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'call' },
    { title: 'on', gives: true },
    { title: 'effect' },
    { title: 'what', gives: true },
  ];
  printTable(
    context,
    columns,
    steps.flatMap((step) => rowsOf(step, losesData)).map((row, at) => [String(at + 1), ...row]),
  );
  printWords(
    context,
    'what has to hold',
    steps.flatMap(({ calls }) => calls.map(({ needs }) => needs)),
  );
  printWords(
    context,
    'what its interface has no call for',
    steps.flatMap(({ title, calls }) =>
      calls.filter(({ absent }) => absent).map(({ on, what }) => `${title}: ${what} (${on} does not say)`),
    ),
  );
  printWords(
    context,
    'what a second person has to approve',
    approvals.map(({ title, on }) => `${title}: a change of ${show(on, 80)}`),
  );
  printWords(
    context,
    'what cannot be undone',
    steps.flatMap(({ calls }) => calls.map(({ forever }) => forever)),
  );
  printWords(
    context,
    'the way back',
    steps.map(({ title, wayBack }) => wayBack && `${title}: ${wayBack}`),
  );
  printWords(context, 'how long it takes', [usualWords(usual?.wholeSeconds, usual?.runs ?? 0)]);
  stdout.write('\nwhat it finds now\n');
  for (const { label, value } of runbook.facts(found.context as never).map(viewFact))
    stdout.write(`  ${label}: ${value}\n`);
  if (found.asks !== undefined) stdout.write(`  it asks you before more can be seen: ${show(found.asks)}\n`);
  if (found.failure !== undefined) stdout.write(`  in the way: ${show(found.failure.shortMessage)}\n`);
  context.stderr.write('nothing was changed\n');
}

function rowsOf(step: PlannedStep, losesData: boolean): string[][] {
  if (step.asks !== undefined) return [['asks you', '', '', step.asks]];
  const made = step.calls.filter(({ absent }) => !absent);
  const calls = made.map(({ method, path, on, changes, what }) => [
    `${method} …${path}`,
    on,
    changes ? (step.destructive && losesData ? 'DESTROYS' : 'CHANGES') : '',
    what,
  ]);
  return [...calls, ...step.does.map((words) => outside(words, step.changes))];
}

/** A step that happens outside the service; words that begin with `platform:` say where. */
function outside(words: string, changes: boolean): string[] {
  const [, what] = /^platform: (.*)$/.exec(words) ?? [];
  return [what === undefined ? 'command' : 'platform', '', changes ? 'CHANGES' : '', what ?? words];
}

function printWords({ stdout }: CommandContext, title: string, words: readonly (string | undefined)[]): void {
  const said = [...new Set(words)].filter((word) => word !== undefined && word !== '');
  if (said.length > 0) stdout.write(`\n${title}\n${said.map((word) => `  ${word}\n`).join('')}`);
}

interface FoundDryRun {
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
 * By GETs alone; leaves nothing behind. `keys` opens the key store; without `signal`, the process's signals
 * stop it. Rejects if the run would be refused, or the service refuses the credentials.
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
    const { escrow } = instances.config.keys;
    const setup = { home, folder, keyring, journal, escrow, platform: instances.platform };
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
