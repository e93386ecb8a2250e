import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

/** `lifeboat prune`. */
export function definePrune(program: Command, command: Define): void {
  command(
    program,
    'prune',
    'remove old drills, downloads and rehearsals; shows them first, and never removes what is still in force',
    async () => (await import('./prune.ts')).prune,
    [
      new Option('--older-than <duration>', 'what was last of use so long ago: 90d').makeOptionMandatory(),
      new Option('--drills', 'only this: drills; any of the three may be named together'),
      new Option('--downloads', 'only this: backups that runs have downloaded'),
      new Option('--homes', 'only this: homes of rehearsals without a record of their drill'),
      new Option('--yes', 'remove them without asking'),
    ],
  );
}
