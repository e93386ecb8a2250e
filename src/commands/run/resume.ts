import { stillOpen } from '../../../machines/parts/unfinished.ts';
import { transcriptLeft } from '../../audit/transcript/transcript.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printResult } from '../../cli/print-result.ts';
import { instancesOfRun, openInstances } from '../../compose/instances.ts';
import { followUpsOfRun } from '../../compose/open-follow-ups.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { callInWords } from '../../runner/assert-not-in-doubt.ts';
import { abandonRun, findRun } from '../../runner/runs.ts';
import type { Doubt } from '../../store/projections/pending-calls.ts';
import { assertNotRunOfDrill } from '../drill/drill-homes.ts';
import { drive } from './drive.ts';
import { type DrivingFlags, drivingOptions } from './run.ts';
import { momentFrom } from './run-input.ts';

/**
 * `lifeboat resume [RUN]`: continues a run where its journal ends, or gives it up with `--abandon REASON`.
 */
export const resume: Action<
  DrivingFlags & { readonly abandon?: string; readonly to?: string; readonly backup?: string }
> = async (context, [word], flags) => {
  await assertNotRunOfDrill(context, word);
  const config = await loadConfig(context.env, context.configPath);
  const options = {
    ...(await drivingOptions(context, flags)),
    time: flags.to === undefined ? undefined : await momentFrom(flags.to, '--to', new Date()),
    backup: flags.backup === undefined ? undefined : idFrom(flags.backup, '--backup'),
    overlay: config.runbooks,
  };
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const summary = await findRun(workspace.journal, word);
    if (summary.status !== 'open') {
      throw new LifeboatError('run.over', `run ${summary.runId} is ${summary.status}: ${summary.where}`, {
        hints: [`read it with: lifeboat audit show ${summary.runId}`],
        exitCode: EXIT.usage,
      });
    }
    if (flags.abandon !== undefined) {
      const open = stillOpen(await followUpsOfRun(workspace.journal, summary));
      const notes = transcriptLeft(workspace.home, summary.runId);
      const doubts = await abandonRun(workspace.journal, summary, flags.abandon, open, notes);
      await workspace.sealer.sealNow();
      const inDoubt = doubts.map((doubt) => ({
        instance: doubt.instance,
        call: callInWords(doubt),
        armedAt: doubt.armedAt,
      }));
      const { runId, instance } = summary;
      await printResult(context, 'abandoned', { runId, instance, openFollowUps: open.length, inDoubt }, () =>
        tellAbandoned(context, runId, doubts, open.length),
      );
      return EXIT.closed;
    }
    const wish = await instancesOfRun(workspace.journal, summary, flags.tokenFile);
    await using instances = await openInstances(context, config, workspace, wish);
    return await drive(context, instances, workspace, summary, options);
  } finally {
    await workspace.close();
  }
};

function tellAbandoned(
  { stdout }: CommandContext,
  runId: string,
  doubts: readonly Doubt[],
  openFollowUps: number,
): void {
  stdout.write(`run ${runId} is abandoned; its record stays\n`);
  for (const doubt of doubts) {
    const what = `${callInWords(doubt)} on ${doubt.instance}, sent ${formatTime(doubt.armedAt)} UTC`;
    stdout.write(`${show(what)}, is still in doubt: it may have been done\n`);
    stdout.write(
      `until that is known, ${doubt.instance} is not changed: lifeboat calls list --instance ${doubt.instance}\n`,
    );
  }
  if (openFollowUps > 0) stdout.write(`open follow-ups: ${openFollowUps}; list them: lifeboat followups\n`);
}
