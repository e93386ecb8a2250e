import { type Command, Option } from 'commander';
import { type Define, instance } from '../../cli/define.ts';
import { repeated } from '../run/run-options.ts';

export function defineStatus(program: Command, command: Define): void {
  command(
    program,
    'status [instance...]',
    'show whether each instance could be recovered now',
    async () => (await import('./status.ts')).status,
    [
      instance('only this instance (repeatable)').argParser(repeated),
      new Option('--prometheus <file>', 'also write metrics for the textfile collector'),
      new Option('--limit <duration>', 'how long each may take, at most 1h (default: 20s)'),
    ],
    {
      about: `It sends only GETs. The exit code is 1 when an instance could not be recovered
now, or when nothing shows that it could be.`,
      examples: [
        'lifeboat status',
        'lifeboat status orders -o json',
        'lifeboat status --prometheus /var/lib/node_exporter/lifeboat.prom',
      ],
    },
  );
}
