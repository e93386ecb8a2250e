import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlannedCall, Runbook } from '../../../machines/parts/runbook.ts';
import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { printTable } from '../../cli/print-table.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { chosenInstance } from '../../compose/chosen-instance.ts';
import { openInstances, type RunInstances } from '../../compose/instances.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openKeys } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { routeAt } from '../../service/revisions.ts';
import { viewFact } from '../../view/build-run-view.ts';
import { type PlannedStep, plannedSteps } from '../../view/dry-run-view.ts';
import { approvalsOnPath, type NeededApproval } from '../approvals/on-path.ts';
import { type DryRun, dryRun } from './dry-run-steps.ts';
import { pathOf, refuseUnsupported } from './refuse-unsupported.ts';
import { changedInstance, type GivenFlags, inputFrom } from './run-input.ts';

/**
 * `lifeboat run RUNBOOK --dry-run`: what a run would do, call by call, and what it finds now. Sends only GETs
 * and leaves nothing behind. Exit 1 when something is in the way.
 */
export async function printDryRun(
  context: CommandContext,
  [name = '']: readonly string[],
  given: GivenFlags & { readonly tokenFile?: string },
): Promise<number> {
  const runbook = runbookNamed(name);
  const config = await loadConfig(context.env, context.configPath);
  const flags = { ...given, instance: chosenInstance(config, given.instance) };
  changedInstance(config, flags);
  const input = await inputFrom(runbook, flags, new Date(), false);
  const keyring = await openKeys(context);
  await using instances = await openInstances(
    context,
    config,
    { keyring },
    {
      instance: flags.instance,
      target: flags.target,
      tokenFile: flags.tokenFile,
      sourceIsGone: input['mode'] === 'perform',
    },
  );
  refuseUnsupported(runbook, instances, input);
  const found = await lookAround(context, runbook, input, instances, keyring);
  const names = { instance: flags.instance, target: flags.target };
  const path = pathOf(runbook, input);
  const routeFor = ({ method, path: below, on }: PlannedCall) =>
    routeAt(
      method,
      below,
      (on === 'target' ? (instances.target ?? instances.instance) : instances.instance).revision,
    );
  const steps = plannedSteps(runbook, names, path, routeFor);
  const approvals = approvalsOnPath(config, runbook, path, names);
  await printResult(context, 'dry-run', resultOf(runbook, names, steps, found, approvals), () =>
    print(context, runbook, names, steps, found, approvals),
  );
  return found.failure === undefined ? EXIT.closed : EXIT.failed;
}

interface Names {
  readonly instance: string;
  readonly target: string | undefined;
}

async function lookAround(
  context: CommandContext,
  runbook: Runbook,
  input: unknown,
  instances: RunInstances,
  keyring: Awaited<ReturnType<typeof openKeys>>,
): Promise<DryRun> {
  const { activitiesFor } = await import('../../activities/index.ts');
  const journal = await openJournalIfAny(context);
  const stop = stopSignal();
  // What a look keeps for later, such as the parameters of bindings, is not wanted here.
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-dry-run-'));
  try {
    const setup = { home: folder, keyring, journal, platform: instances.platform };
    const activities = activitiesFor({
      instance: depsFor(instances.instance, setup),
      target: instances.target && depsFor(instances.target, setup),
    });
    return await dryRun(runbook, input, activities, {
      instance: instances.instance.name,
      signal: stop.signal,
    });
  } finally {
    stop.release();
    await journal?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function resultOf(
  runbook: Runbook,
  names: Names,
  steps: readonly PlannedStep[],
  { state, context, failure, asks }: DryRun,
  approvals: readonly NeededApproval[],
): ResultOf<'dry-run'> {
  const { id, version } = runbook;
  const found = { state, facts: runbook.facts(context as never), inTheWay: failure, asks };
  return { runbook: id, version, ...names, steps, approvals, found };
}

function print(
  context: CommandContext,
  runbook: Runbook,
  { instance, target }: Names,
  steps: readonly PlannedStep[],
  found: DryRun,
  approvals: readonly NeededApproval[],
): void {
  const { stdout } = context;
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
    steps.flatMap(rowsOf).map((row, at) => [String(at + 1), ...row]),
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
  stdout.write('\nwhat it finds now\n');
  for (const { label, value } of runbook.facts(found.context as never).map(viewFact))
    stdout.write(`  ${label}: ${value}\n`);
  if (found.asks !== undefined) stdout.write(`  it asks you before more can be seen: ${show(found.asks)}\n`);
  if (found.failure !== undefined) stdout.write(`  in the way: ${show(found.failure.shortMessage)}\n`);
  context.stderr.write('nothing was changed\n');
}

function rowsOf(step: PlannedStep): string[][] {
  if (step.asks !== undefined) return [['asks you', '', '', step.asks]];
  const made = step.calls.filter(({ absent }) => !absent);
  const calls = made.map(({ method, path, on, changes, what }) => [
    `${method} …${path}`,
    on,
    changes ? (step.destructive ? 'DESTROYS' : 'CHANGES') : '',
    what,
  ]);
  return [...calls, ...step.does.map((words) => outside(words, step.changes))];
}

/** What happens beside the service; words that begin with `platform:` say where. */
function outside(words: string, changes: boolean): string[] {
  const [, what] = /^platform: (.*)$/.exec(words) ?? [];
  return [what === undefined ? 'command' : 'platform', '', changes ? 'CHANGES' : '', what ?? words];
}

function printWords({ stdout }: CommandContext, title: string, words: readonly (string | undefined)[]): void {
  const said = [...new Set(words)].filter((word) => word !== undefined && word !== '');
  if (said.length > 0) stdout.write(`\n${title}\n${said.map((word) => `  ${word}\n`).join('')}`);
}
