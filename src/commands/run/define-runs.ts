import { type Command, Option } from 'commander';
import { type Define, TIME } from '../../cli/define.ts';
import { RUN_HELP } from '../../cli/help-texts.ts';
import { ANSWERING, about, driving } from './run-options.ts';

/** The commands that begin runs, carry on with them and list them. */
export function defineRuns(program: Command, command: Define): void {
  command(
    program,
    'run <runbook> [instance]',
    'run a runbook, one safe step at a time',
    async () => (await import('./run.ts')).run,
    [
      ...about(),
      new Option(
        '--dry-run',
        'print the calls that the run would make, in order, and start no run; sends only GETs',
      ).conflicts(ANSWERING),
      ...driving(),
    ],
  ).addHelpText('after', RUN_HELP);
  command(
    program,
    'resume [run]',
    'carry on with a run; asks the service first what has happened',
    async () => (await import('./resume.ts')).resume,
    [
      new Option('--abandon <reason>', 'give the run up instead; its record stays'),
      new Option('--to <time>', `for a run that asks for one, ${TIME}`),
      ...driving(),
    ],
  );
  command(program, 'runs', 'runs and where they stand', async () => (await import('../runs.ts')).runs, [
    new Option('--open', 'only those that are not closed'),
    new Option('--drills', 'those of the drills, each with the folder that keeps it'),
    new Option('--limit <number>', 'only the newest so many'),
  ]);
}
