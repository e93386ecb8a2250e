import { Writable } from 'node:stream';
import type { CommandContext } from '../../cli/context.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { ScheduleConfig } from '../../config/schedules.ts';
import { planNamed } from '../plans/plan-files.ts';

/**
 * Does what a schedule says, as its command would without a terminal; what that prints is handed on by lines.
 * Runs that it begins are left to the workers. Resolves with the exit code of the command.
 */
export async function runSchedule(
  context: CommandContext,
  config: LoadedConfig,
  schedule: ScheduleConfig,
  say: (line: string) => void,
): Promise<number> {
  const [stdout, stderr] = [linesTo(say), linesTo(say)];
  const quiet: CommandContext = { ...context, stdout, stderr };
  try {
    switch (schedule.do) {
      case 'evaluate': {
        const { plansEvaluate } = await import('../plans/evaluate.ts');
        return await plansEvaluate(quiet, schedule.plan === undefined ? [] : [schedule.plan], {});
      }
      case 'rehearse': {
        const { plansRun } = await import('../plans/run.ts');
        const { plan } = await planNamed(config, schedule.plan);
        const confirm = plan.groups.map(({ id }) => id);
        return await plansRun(quiet, [schedule.plan], { rehearsal: true, detach: true, yes: true, confirm });
      }
      case 'rotate-due': {
        const { run } = await import('../run/run.ts');
        const confirm = schedule.confirm === true ? Object.keys(config.instances).join(',') : undefined;
        const named = confirm === undefined ? {} : { confirm };
        return await run(quiet, ['rotate-key'], { allDue: true, detach: true, yes: true, ...named });
      }
      case 'notify': {
        const { notifySend } = await import('../notify/notify.ts');
        return await notifySend(quiet, [], {});
      }
    }
  } finally {
    stdout.end();
    stderr.end();
  }
}

/** A stream whose whole lines are handed on. */
function linesTo(say: (line: string) => void): Writable {
  let rest = '';
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = `${rest}${chunk.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') say(line);
      done();
    },
    final(done) {
      if (rest !== '') say(rest);
      done();
    },
  });
}
