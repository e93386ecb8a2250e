import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

/** `lifeboat drill`. */
export function defineDrill(program: Command, command: Define): void {
  command(
    program,
    'drill [runbook]',
    'rehearse on a lab: rotate, lose a region, recover, undo a mishap; compare every row',
    async () => (await import('./drill.ts')).drill,
    [
      new Option('--auto', 'by itself, also in a terminal'),
      new Option(
        '--report <dir>',
        'folder in which this drill gets one of its own (default: drills, below LIFEBOAT_HOME)',
      ),
      new Option('--revision <n>', 'revision of the service').choices(['61', '62']).default('62'),
      new Option('--scenario <name>', 'what goes wrong, as for `lifeboat lab`'),
      new Option('--junit <file>', 'also write the result as JUnit XML, for Jenkins and GitLab'),
      new Option('--keep <number>', 'then remove the oldest drills beside this one, so that so many stay'),
    ],
  );
}
