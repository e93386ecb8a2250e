import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { answering } from '../run/run-options.ts';

/** The commands for the work that recoveries leave behind. */
export function defineFollowUps(program: Command, command: Define): void {
  const list = async () => (await import('./followups.ts')).followUpsList;
  const listing = () => [new Option('--all', 'also those that are done or skipped')];
  const followUps = command(
    program,
    'followups',
    'list, do and close the work that recoveries leave',
    list,
    listing(),
    {
      about: `A run stays open until each of its follow-ups is done or skipped. The list ends
with 3 while one is open; \`done\`, \`skip\` and \`run\` with 0 once it is closed. ID is an id, the beginning of one, RUN:ID, or \`last\`.`,
      examples: [
        'lifeboat followups',
        'lifeboat followups run rebind-orders-api',
        'lifeboat followups done rebind-orders-api --proof "ticket 4711"',
        'lifeboat followups skip rebind-orders-api --reason "retired"',
      ],
    },
  );
  command(followUps, 'list', 'list the open follow-ups; the default', list, listing());
  command(
    followUps,
    'run <id>',
    'have it done by the platform, a command or the run',
    async () => (await import('./followups.ts')).followUpsRun,
    [new Option('--again', 'also if its command was begun before'), ...answering()],
    {
      about: `A command of the config (\`reconnect\`) runs once by itself. When it failed, or nobody knows how it
ended, it runs again only with --again: look first at what it has done.`,
    },
  );
  command(
    followUps,
    'done <id>',
    'report that you did it by hand, with a proof',
    async () => (await import('./followups.ts')).followUpsDone,
    [new Option('--proof <text>', 'what shows that it was done').makeOptionMandatory(), ...answering()],
  );
  command(
    followUps,
    'skip <id>',
    'leave it undone, with a reason for the report',
    async () => (await import('./followups.ts')).followUpsSkip,
    [new Option('--reason <text>', 'why it is not done').makeOptionMandatory(), ...answering()],
  );
}
