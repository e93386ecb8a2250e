import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { LAB_HELP } from '../../cli/help-texts.ts';
import { labOptions } from '../run/run-options.ts';

/** The commands of the simulator. */
export function defineLab(program: Command, command: Define): void {
  command(
    program,
    'lab',
    'the service on this machine, on real PostgreSQL; prints a lifeboat.yaml',
    async () => (await import('./lab.ts')).lab,
    [
      new Option('--port <n>', 'port on 127.0.0.1 (default: any free one)'),
      new Option('--revision <n>', 'revision of the service').choices(['61', '62']).default('62'),
      new Option('--folder <dir>', 'folder for tokens, keys and backups: empty or new; removed at the end'),
      ...labOptions(),
    ],
  ).addHelpText('after', LAB_HELP);
  command(
    program,
    'lab-query <name>',
    'what the sample application of a running lab holds',
    async () => (await import('./lab-query.ts')).labQuery,
    [new Option('--folder <dir>', 'the folder of the lab').makeOptionMandatory()],
    { hidden: true, hasNoForm: true },
  );
  command(
    program,
    'lab-app <file>',
    'the sample application of a lab, in a single executable',
    async () => (await import('./lab-app.ts')).labApp,
    [],
    { hidden: true, hasNoForm: true },
  );
}
