import { instanceNamed, loadConfig } from '../config/load.ts';
import { startRun } from '../runner/runs.ts';
import type { CommandContext } from './context.ts';
import { drive } from './drive.ts';
import { readSecretFile } from './hidden-prompt.ts';
import { refuseUnsupported } from './refuse-unsupported.ts';
import { runbookNamed } from './runbook-files.ts';
import { openForRun } from './service-of.ts';
import { openWorkspace } from './workspace.ts';

/** Flags that `run` and `resume` share. */
export interface DrivingFlags {
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly keyFile?: string;
  readonly tokenFile?: string;
  readonly plain?: boolean;
  readonly json?: boolean;
}

/** `lifeboat run RUNBOOK --instance NAME`: begins a run and drives it. */
export async function run(
  context: CommandContext,
  [name = '']: readonly string[],
  flags: DrivingFlags & { readonly instance: string; readonly reason?: string },
): Promise<number> {
  const runbook = runbookNamed(name);
  const config = await loadConfig(context.env, context.configPath);
  instanceNamed(config, flags.instance);
  const options = await drivingOptions(context, flags);
  const workspace = await openWorkspace(context, {
    operator: config.operator.name,
    checkpoints: config.checkpoints,
  });
  try {
    // Everything that can be wrong with the config shows before there is a run that it would leave open.
    await using instance = await openForRun(context, config, workspace, flags.instance, flags.tokenFile);
    refuseUnsupported(runbook, instance);
    const runId = await startRun(workspace.journal, {
      runbook,
      instance: flags.instance,
      input: { instance: flags.instance, ...(flags.reason === undefined ? {} : { reason: flags.reason }) },
      mode: instance.config.rehearsal ? 'REHEARSAL' : 'LIVE',
      operator: workspace.operator,
      tool: { name: 'lifeboat', version: context.version, node: process.version },
    });
    const summary = { runId, runbook: runbook.id, instance: flags.instance, version: runbook.version };
    return await drive(context, instance, workspace, summary, options);
  } finally {
    await workspace.close();
  }
}

/** What the flags say about driving; reads the key file once. */
export async function drivingOptions(context: CommandContext, flags: DrivingFlags) {
  return {
    yes: flags.yes ?? false,
    confirm: flags.confirm,
    key: flags.keyFile === undefined ? undefined : await readSecretFile(flags.keyFile, context),
    json: flags.json ?? false,
    plain: flags.plain ?? false,
  };
}
