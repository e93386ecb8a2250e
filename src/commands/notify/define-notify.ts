import { type Command, Option } from 'commander';
import { type Define, group } from '../../cli/define.ts';

export function defineNotify(program: Command, command: Define): void {
  const notify = group(program, 'notify', 'deliver notifications, or try the targets', {
    about: `The targets are in lifeboat.yaml (\`notify\`). Commands that write deliver by
themselves; what is left is sent here, for instance by a timer.`,
  });
  command(
    notify,
    'send',
    'deliver what is due; check whether a drill is due',
    async () => (await import('./notify.ts')).notifySend,
    [new Option('--all', 'also what waits to be retried, or was given up')],
    {
      about: `Exit code 0 when each target took what it was sent, 1 otherwise. A target may
get a notification twice; its \`id\` is the same.`,
      examples: ['lifeboat notify send', 'lifeboat notify send --all'],
    },
  );
  command(
    notify,
    'test [target]',
    'send a test to one target, or to each',
    async () => (await import('./notify.ts')).notifyTest,
    [],
    { about: 'It shows what each answered, and leaves nothing on record.' },
  );
}
