import { type Command, Option } from 'commander';
import { type Define, TIME } from '../../cli/define.ts';
import { RUNBOOKS } from '../../cli/help-texts.ts';
import { ANSWERING, about, BY_HAND, driving } from './run-options.ts';

export function defineRuns(program: Command, command: Define): void {
  command(
    program,
    'run <runbook> [instance]',
    'run a runbook, one safe step at a time',
    async () => (await import('./run.ts')).run,
    [
      ...about(),
      new Option('--all-due', 'rotate-key: each key that is due, one after the other').conflicts([
        'instance',
        'dryRun',
        'keyFile',
      ]),
      new Option('--dry-run', 'print the calls of the run; send only GETs').conflicts(ANSWERING),
      new Option('--detach', 'leave the run to the workers (`lifeboat worker`)').conflicts(BY_HAND),
      ...driving(),
    ],
    {
      about: `In a terminal it shows the screen and asks. In a script it stops at the first
question that no flag answers, with exit code 3; \`lifeboat resume\` goes on.
With -o json it prints each entry of the journal as it is written.
With --detach a worker drives the run: --yes and --confirm are given in advance,
and what they do not answer waits for \`lifeboat resume\`.`,
      notes: [`Runbooks:\n${RUNBOOKS.map(([id, does]) => `  ${id.padEnd(23)}${does}`).join('\n')}`],
      examples: [
        'lifeboat run restore-backup orders',
        'lifeboat run restore-backup orders --backup 12 --dry-run',
        'lifeboat run restore-point-in-time orders --to "10 minutes ago"',
        'lifeboat run disaster-recovery orders --prepare',
        'lifeboat run disaster-recovery orders --target orders-dr --perform',
        'lifeboat run rotate-key orders --yes --confirm orders',
        'lifeboat run rotate-key --all-due',
      ],
    },
  );
  command(
    program,
    'resume [run]',
    'resume a run',
    async () => (await import('./resume.ts')).resume,
    [
      new Option('--abandon <reason>', 'end the run as it is; its record stays'),
      new Option('--to <time>', TIME),
      new Option('--backup <id>', 'the backup to restore, where the run asks for one'),
      new Option('--look', 'only ask the service about a call in doubt').conflicts(['abandon', 'became']),
      new Option('--became <id>', 'what a call in doubt became: an id, done or nothing'),
      new Option('--reason <text>', 'with --became: how you know'),
      ...driving(),
    ],
    {
      about: `The service is asked first what became of the last call. Nothing is sent twice.
Without RUN it is the only open run. RUN is the beginning of an id, or \`last\`.
A call is in doubt when it may have been sent and its answer is lost. Until it is
known what became of it, nothing else changes the instance. --look asks for as
long as the call may still be under way, and sends nothing; exit code 5 if the
service does not show it. --became records what you know instead; with \`nothing\` the run ends.`,
      examples: [
        'lifeboat resume',
        'lifeboat resume 01K --yes',
        'lifeboat resume last --look',
        'lifeboat resume last --became nothing --reason "no such task"',
        'lifeboat resume last --abandon "done by hand"',
      ],
    },
  );
  command(
    program,
    'watch [run]',
    'watch a run that another process drives',
    async () => (await import('./watch.ts')).watch,
    [new Option('--plain', 'lines instead of the full screen')],
    {
      about: `It only looks: nothing is held, sent or answered. It ends when the run ends, or
with Ctrl-C; its exit code is 0. In a terminal, the run of a plan has the
screen of a plan, with every key that acts disabled. With -o json it prints the
entries of the run, from the first on. Without RUN it is the only open run, or
the plan whose steps are open.`,
      examples: ['lifeboat watch', 'lifeboat watch last --plain', 'lifeboat watch 01K -o json'],
    },
  );
  command(
    program,
    'runs',
    'list runs and their progress',
    async () => (await import('../runs.ts')).runs,
    [
      new Option('--open', 'only those that are open'),
      new Option('--in-doubt', 'the calls whose outcome is unknown').conflicts(['open', 'drills', 'limit']),
      new Option('--drills', 'those of drills, each with its folder'),
      new Option('--limit <number>', 'only the newest of them'),
    ],
    { examples: ['lifeboat runs --open', 'lifeboat runs --in-doubt', 'lifeboat runs --limit 10 -o json'] },
  );
}
