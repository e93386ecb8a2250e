import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { defineCustody } from './define-custody.ts';
import { defineMoves } from './define-moves.ts';

/** Also named in `src/keys/os-store.ts`, which is only imported when needed. */
const READ_ITEM = 'keychain-item';

export function defineKeys(program: Command, command: Define): void {
  const keys = group(program, 'keys', 'list and add encryption keys, by fingerprint', {
    about: `A key itself is never printed. A fingerprint is made with a secret of this key
store; what was opened from sealed copies keeps the fingerprint of its team. To find
out whether two people hold the same key, each runs \`lifeboat keys add NAME --check\`.`,
  });
  command(
    keys,
    'list [instance]',
    'list the keys that are held or on record',
    async () => (await import('./keys.ts')).keysList,
    [instance('only those of this instance')],
    { examples: ['lifeboat keys list orders'] },
  );
  command(
    keys,
    'add [instance]',
    'store a key that you have; it is asked for, hidden',
    async () => (await import('./keys.ts')).keysAdd,
    [
      instance(),
      new Option('--file <file>', 'read it from this file (- for stdin)'),
      new Option('--note <text>', 'a note for the ledger'),
      new Option('--as <fingerprint>', 'under the fingerprint of another key store').conflicts([
        'token',
        'check',
      ]),
      new Option('--token', 'store the access token of the instance instead'),
      new Option('--check', 'store nothing: exit 0 if it is held, 1 if not').conflicts(['token', 'note']),
      new Option('--folder <dir>', 'store the keys of many: DIR/INSTANCE.key').conflicts([
        ...['instance', 'file', 'as', 'token', 'check'],
      ]),
    ],
    {
      examples: [
        'lifeboat keys add orders',
        'lifeboat keys add orders --check',
        'lifeboat keys add orders --token --file ./token',
        'lifeboat keys add --folder ./keys',
      ],
    },
  );
  defineCustody(keys, command);
  defineMoves(keys, command);
  command(
    program,
    READ_ITEM,
    'read back what was stored, for another lifeboat process',
    async () => (await import('./read-item.ts')).readItem,
    [],
    { hidden: true, hasNoForm: true },
  );
}
