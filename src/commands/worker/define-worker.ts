import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { repeated } from '../run/run-options.ts';

export function defineWorker(program: Command, command: Define): void {
  command(
    program,
    'schedules',
    'list what workers do at a time of the clock',
    async () => (await import('./list-schedules.ts')).schedules,
    [],
    {
      about: `From \`schedules:\` of lifeboat.yaml: when each last ran, and its next five times. One
that was missed because no worker ran is made up for once, late, and says so.`,
      examples: ['lifeboat schedules', 'lifeboat schedules -o json'],
    },
  );
  command(
    program,
    'workers',
    'list the workers of the team',
    async () => (await import('./list-workers.ts')).workers,
    [],
    {
      about: `live: it was heard of within two leases; stopped: it said that it stops; gone: neither.
The runs of a worker that is gone are taken by others. Exit code 1 when runs may go
on, nobody has them, and no worker is live.`,
      examples: ['lifeboat workers', 'lifeboat workers -o json'],
    },
  );
  command(
    program,
    'worker',
    'take runs that were left to the workers',
    async () => (await import('./worker.ts')).worker,
    [
      new Option('--label <tag>', 'only runs of instances with this tag (repeatable)').argParser(repeated),
      new Option('--concurrency <n>', 'how many runs are at work here at once').default(undefined, '8'),
    ],
    {
      hasNoForm: true,
      about: `Runs begun with --detach go on wherever a worker may take them: its config
names their instances, and its key store, or its identity for sealed copies,
opens the key in force. Any number of workers on any hosts share a team's store.
A worker that dies is followed by another within two leases (30 s): what it may
have sent is asked about first, and nothing is sent twice. A run that waits for a
person holds no worker; one that waits for a task keeps its hold and no place.
SIGTERM drains: nothing new is taken, and what is at work is left for others.`,
      examples: ['lifeboat worker', 'lifeboat worker --label region-west --concurrency 16'],
    },
  );
}
