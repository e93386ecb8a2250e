import { loadConfig } from '../config/load.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import { abandonRun, findRun } from '../runner/runs.ts';
import type { CommandContext } from './context.ts';
import { drive } from './drive.ts';
import { type DrivingFlags, drivingOptions } from './run.ts';
import { openForRun } from './service-of.ts';
import { openWorkspace } from './workspace.ts';

/** `lifeboat resume [RUN]`: carries on with a run where its journal ends, or gives it up with `--abandon REASON`. */
export async function resume(
  context: CommandContext,
  [word]: readonly string[],
  flags: DrivingFlags & { readonly abandon?: string },
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const options = await drivingOptions(context, flags);
  const workspace = await openWorkspace(context, {
    operator: config.operator.name,
    checkpoints: config.checkpoints,
  });
  try {
    const summary = await findRun(workspace.journal, word);
    if (summary.status !== 'open') {
      throw new LifeboatError('run.over', `run ${summary.runId} is ${summary.status}: ${summary.where}`, {
        hints: [`read it with: lifeboat audit show ${summary.runId}`],
        exitCode: EXIT.usage,
      });
    }
    if (flags.abandon !== undefined) {
      await abandonRun(workspace.journal, summary, flags.abandon);
      await workspace.sealer.sealNow(`run/${summary.runId}`, 'closed');
      context.stdout.write(`run ${summary.runId} is given up; its record stays\n`);
      return EXIT.closed;
    }
    await using instance = await openForRun(context, config, workspace, summary.instance, flags.tokenFile);
    return await drive(context, instance, workspace, summary, options);
  } finally {
    await workspace.close();
  }
}
