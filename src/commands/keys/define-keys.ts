import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { KEYS_HELP } from '../../cli/help-texts.ts';

/** `lifeboat keys …`. */
export function defineKeys(program: Command, command: Define): void {
  const keys = group(program, 'keys', 'encryption keys, by fingerprint; a key itself is never printed');
  keys.addHelpText('after', KEYS_HELP);
  command(
    keys,
    'list [instance]',
    'keys that are held, and what the ledger knows of them',
    async () => (await import('./keys.ts')).keysList,
    [instance('only those of this instance')],
  );
  command(
    keys,
    'add [instance]',
    'store a key that you have (asked for twice, hidden)',
    async () => (await import('./keys.ts')).keysAdd,
    [
      instance(),
      new Option('--file <file>', 'read it from this file (- for standard input)'),
      new Option('--note <text>', 'a note for the ledger'),
      new Option('--as <fingerprint>', 'under the fingerprint that another key store gave it').conflicts([
        'token',
        'check',
      ]),
      new Option('--token', 'store the access token of the instance instead of a key'),
      new Option('--check', 'store nothing: only say whether this key is held (exit 0) or not (1)').conflicts(
        ['token', 'note'],
      ),
    ],
  );
}
