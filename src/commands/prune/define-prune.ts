import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

export function definePrune(program: Command, command: Define): void {
  command(
    program,
    'prune',
    'remove old drills, downloads and rehearsals',
    async () => (await import('./prune.ts')).prune,
    [
      new Option(
        '--older-than <time>',
        'what was last used longer ago than this, such as 90d',
      ).makeOptionMandatory(),
      new Option('--drills', 'only drills'),
      new Option('--downloads', 'only backups that runs have downloaded'),
      new Option('--homes', 'only homes of rehearsals that are no drill'),
      new Option('--yes', 'remove without asking'),
    ],
    {
      about: `It shows first what it would remove. It never removes what proves something
that is still in force, and nothing of the journal.`,
      examples: ['lifeboat prune --older-than 90d', 'lifeboat prune --older-than 365d --drills --yes'],
    },
  );
}
