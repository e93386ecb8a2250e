import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

/** The command that writes the first config. */
export function defineInit(program: Command, command: Define): void {
  command(
    program,
    'init',
    'write a config, and try what it says',
    async () => (await import('./init.ts')).init,
    [
      new Option('--url <url>', 'the dashboard address that `cf service` prints'),
      new Option('--name <name...>', 'its name; without --url, instances of cf'),
      new Option('--revision <revision>', '61, 62, v0 or auto (default: found out by GETs)').choices([
        '61',
        '62',
        'v0',
        'auto',
      ]),
      new Option('--token-command <command>', 'a shell command that prints the access token').conflicts([
        'tokenEnv',
        'tokenFile',
      ]),
      new Option('--token-env <variable>', 'the variable that holds it').conflicts('tokenFile'),
      new Option('--token-file <file>', 'the file that holds it'),
      new Option('--ca <file>', 'PEM file with further certificate authorities'),
      new Option('--untested', 'write it even when an instance does not answer'),
      new Option('--print', 'print the config to stdout, write nothing'),
      new Option('--confirm <file>', 'replace the file of this name'),
      new Option('--yes', 'ask nothing; without --url, take all that cf shows'),
    ],
    {
      about: `In a terminal it asks. It finds instances by the cf tool where that is logged
in, sends only GETs, and says what each instance answered. It writes where
--config or LIFEBOAT_CONFIG says, else lifeboat.yaml in this folder, and beside
it a JSON Schema for editors. It never writes a token. It replaces a file only
after you type its name, or with --confirm.`,
      examples: [
        'lifeboat init',
        'lifeboat init --yes      # all instances that cf shows',
        'lifeboat init --url URL --name orders --token-file ./token',
      ],
    },
  );
}
