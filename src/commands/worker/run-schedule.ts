import { Writable } from 'node:stream';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { ScheduleConfig } from '../../config/schedules.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns, runs, summariesOf } from '../../store/projections/runs.ts';
import { eachRow } from '../../store/reading.ts';
import { planNamed } from '../plans/plan-files.ts';
import type { Beginning } from './schedules.ts';

interface Doing {
  readonly journal: Pick<JournalReader, 'rows'>;
  readonly beginning: Beginning;
  readonly say: (line: string) => void;
}

/**
 * Does what a schedule says, as its command would without a terminal; what that prints is handed on by lines.
 * Runs that it begins are left to the workers. Resolves with the exit code of the command, also of one that
 * refuses its command line or the config; rejects with any other error.
 *
 * It may be done again for one time, after the process that began died: a rehearsal that was begun since then
 * is not begun twice, and the others find what is done.
 */
export async function runSchedule(
  context: CommandContext,
  config: LoadedConfig,
  schedule: ScheduleConfig,
  { say, journal, beginning }: Doing,
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
        if (beginning.isAgain && (await wasRehearsed(journal, schedule.plan, beginning.since)))
          return EXIT.closed;
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
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.exitCode !== EXIT.usage) throw thrown;
    // As long as the config stays, it would fail again.
    say(thrown.shortMessage);
    return thrown.exitCode;
  } finally {
    stdout.end();
    stderr.end();
  }
}

/** A rehearsal of this plan was begun at this time or later. RFC 3339. */
async function wasRehearsed(
  journal: Pick<JournalReader, 'rows'>,
  plan: string,
  since: string,
): Promise<boolean> {
  const isOne = ({ runbook, instance, mode, startedAt }: RunSummary) =>
    runbook === planRunbook.id &&
    instance === planSubject(plan) &&
    mode === 'REHEARSAL' &&
    msOf(startedAt) >= msOf(since);
  if ((await openRuns(journal)).some(isOne)) return true;
  for await (const row of eachRow(journal, runs.name, { group: 'closed', order: 'descending' })) {
    const [run] = summariesOf([row]);
    if (run === undefined || msOf(run.startedAt) < msOf(since)) return false;
    if (isOne(run)) return true;
  }
  return false;
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
