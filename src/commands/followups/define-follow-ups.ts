import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { answering } from '../run/run-options.ts';

/** The commands about the work that recoveries leave. */
export function defineFollowUps(program: Command, command: Define): void {
  const list = async () => (await import('./followups.ts')).followUpsList;
  const listing = () => [new Option('--all', 'also those that are done or skipped')];
  const followUps = command(
    program,
    'followups',
    'the work that recoveries leave, by whom and until when: list, run, done, skip',
    list,
    listing(),
  );
  command(followUps, 'list', 'the open follow-ups; the same as `lifeboat followups`', list, listing());
  command(
    followUps,
    'run <id>',
    'do it from here: by the platform, or by a backup',
    async () => (await import('./followups.ts')).followUpsRun,
    answering(),
  );
  command(
    followUps,
    'done <id>',
    'report that you did it by hand, with a proof; its run goes on',
    async () => (await import('./followups.ts')).followUpsDone,
    [new Option('--proof <text>', 'what shows that it was done').makeOptionMandatory(), ...answering()],
  );
  command(
    followUps,
    'skip <id>',
    'leave it undone, with a reason that stays in the report',
    async () => (await import('./followups.ts')).followUpsSkip,
    [new Option('--reason <text>', 'why it is not done').makeOptionMandatory(), ...answering()],
  );
}
