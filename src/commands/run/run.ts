import { EXIT, type ExitCode } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople } from '../../cli/print-result.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { keepSignals } from '../../cli/stop-signal.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import { openInstances, servicesOfRun } from '../../compose/instances.ts';
import { followUpsOfRun } from '../../compose/open-follow-ups.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import { startRun } from '../../runner/runs.ts';
import type { Journal } from '../../store/journal.ts';
import type { ForWorkers } from '../../store/run-entries.ts';
import { assertApprovalsReadable, presentOf } from '../approvals/present.ts';
import { assertApproversConfigured } from '../approvals/required.ts';
import { assertSupported } from './assert-supported.ts';
import { drive } from './drive.ts';
import { patienceFrom } from './leave-overdue.ts';
import { printEntries } from './print-headless.ts';
import { changedInstance, type GivenFlags, inputFrom, targetsIn, withAction } from './run-input.ts';
import { clockMark } from './watch-clock.ts';

export interface DrivingFlags {
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly keyFile?: string;
  readonly tokenFile?: string;
  readonly guid?: string;
  readonly breakGlass?: string;
  readonly plain?: boolean;
  readonly patience?: string;
}

export interface RunFlags extends DrivingFlags, GivenFlags {
  readonly dryRun?: boolean;
  readonly allDue?: boolean;
  readonly detach?: boolean;
}

/** `lifeboat run RUNBOOK [INSTANCE]`: begins a run and drives it. */
export const run: Action<RunFlags> = async (context, [name = ''], given) => {
  if (given.allDue) {
    const { rotateAllDue } = await import('./rotate-all-due.ts');
    return rotateAllDue(context, name, given, run);
  }
  if (given.dryRun) {
    const { printDryRun } = await import('./dry-run.ts');
    return printDryRun(context, [name], given);
  }
  const runbook = runbookNamed(name);
  const config = await loadConfig(context.env, context.configPath);
  assertApproversConfigured(config);
  const named = { ...given, instance: chosenInstance(config, given.instance) };
  const { objectives, rehearsal } = changedInstance(config, named);
  const flags = await withAction(context, runbook, named);
  const input = await inputFrom(runbook, flags, new Date(), rehearsal, targetsIn(config));
  const options = await drivingOptions(context, flags);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    // Find every config error before there is a run that it would leave open.
    await using instances = await openInstances(context, config, workspace, {
      instance: flags.instance,
      target: flags.target,
      tokenFile: flags.tokenFile,
      source: runbook.touches(input).source,
    });
    assertSupported(runbook, instances, input);
    const started = { instance: flags.instance, target: flags.target };
    const asked = await presentOf(config, workspace, started);
    assertApprovalsReadable(asked, options.breakGlass);
    const early = keepSignals();
    const runId = await startRun(workspace.journal, {
      ...started,
      runbook,
      input,
      mode: rehearsal ? 'REHEARSAL' : 'LIVE',
      objectives: inSeconds(objectives),
      services: servicesOfRun(config, started),
      operator: workspace.operator,
      asked,
      tool: { name: 'lifeboat', version: context.version, node: process.version },
      clock: clockMark(),
      followUpsOf: (open) => followUpsOfRun(workspace.journal, open),
      workers: flags.detach === true ? answersInAdvance(flags) : undefined,
    });
    const summary = { ...started, runId, runbook: runbook.id, version: runbook.version };
    if (flags.detach === true) return await sayLeft(context, workspace.journal, summary);
    return await drive(context, instances, workspace, summary, {
      ...options,
      early,
      time: typeof input['time'] === 'string' ? input['time'] : undefined,
      overlay: config.runbooks,
    });
  } finally {
    await workspace.close();
  }
};

export function inSeconds({
  rto,
  rpo,
}: {
  readonly rto?: number | undefined;
  readonly rpo?: number | undefined;
}) {
  return {
    ...(rto === undefined ? {} : { rtoSeconds: rto / 1000 }),
    ...(rpo === undefined ? {} : { rpoSeconds: rpo / 1000 }),
  };
}

/** What the flags say about driving; reads the key file once. */
export async function drivingOptions(context: CommandContext, flags: DrivingFlags) {
  return {
    yes: flags.yes ?? false,
    confirm: flags.confirm,
    key: flags.keyFile === undefined ? undefined : await readSecretFile(flags.keyFile, context),
    word: flags.guid,
    breakGlass: flags.breakGlass?.trim() === '' ? undefined : flags.breakGlass,
    plain: flags.plain ?? false,
    overdueMs: patienceFrom(flags.patience),
  };
}

function answersInAdvance({
  yes = false,
  confirm,
}: {
  readonly yes?: boolean | undefined;
  readonly confirm?: string | undefined;
}): ForWorkers {
  return { yes, confirm: confirm === undefined ? [] : [confirm] };
}

/** Says that a run was begun and left to the workers, and how to follow it. Exit 0. */
export async function sayLeft(
  context: CommandContext,
  journal: Journal,
  run: Pick<DrivenRun, 'runId' | 'instance'>,
): Promise<ExitCode> {
  if (isForPeople(context)) {
    context.stdout.write(`run ${run.runId} is left to the workers\n`);
    context.stderr.write(
      `to look on: lifeboat watch ${run.runId}\nto drive it yourself: lifeboat resume ${run.runId}\n`,
    );
  } else {
    const stop = await printEntries(context, journal, run);
    await stop();
  }
  return EXIT.closed;
}
