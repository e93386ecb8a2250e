import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { revision } from '../run/run-options.ts';

export function defineDrill(program: Command, command: Define): void {
  command(
    program,
    'drill [runbook]',
    'rehearse a recovery on a lab; compare every row',
    async () => (await import('./drill.ts')).drill,
    [
      new Option('--auto', 'without questions, also in a terminal'),
      new Option('--report <dir>', 'keep the drill below this folder'),
      revision(),
      new Option('--scenario <name>', 'what goes wrong, see `lifeboat lab --scenario list`'),
      new Option('--junit <file>', 'also write the result as JUnit XML'),
      new Option('--keep <number>', 'then remove the oldest drills: keep this many'),
    ],
    {
      about: `It starts the simulated service on real PostgreSQL, with an application that
keeps writing. Without RUNBOOK it plays all of it: a rotation, the loss of a
region, an accidental DELETE. The lab is gone afterwards. Journal and reports
stay in a folder of their own, by default below LIFEBOAT_HOME/drills.`,
      examples: [
        'lifeboat drill',
        'lifeboat drill restore-backup --scenario lost-answers',
        'lifeboat drill --auto --report ./evidence --keep 12 --junit drill.xml',
      ],
    },
  );
}
