import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

/** `lifeboat status`. */
export function defineStatus(program: Command, command: Define): void {
  command(
    program,
    'status [instance...]',
    'each instance, and whether it could be recovered now: exit 1 where it could not, or nothing shows it',
    async () => (await import('./status.ts')).status,
    [
      new Option('--prometheus <file>', 'also write it for the textfile collector of the node exporter'),
      new Option('--limit <duration>', 'so long each instance has to answer (default: 20s)'),
    ],
  );
}
