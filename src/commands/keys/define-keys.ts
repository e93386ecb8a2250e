import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { defineCustody } from './define-custody.ts';

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

/** The commands that bring keys somewhere else, and the one for the passphrase of the vault file. */
function defineMoves(keys: Command, command: Define): void {
  const ofOne = 'only the keys of this instance';
  const passphraseFile = (what: string) => new Option('--passphrase-file <file>', what);
  command(
    keys,
    'passphrase',
    'change the passphrase of the vault file',
    async () => (await import('./passphrase.ts')).keysPassphrase,
    [new Option('--new-file <file>', 'a file with the new one, or - for standard input')],
    {
      about: `A new file is written beside the old one, opened once with the new passphrase,
and only then put in its place.`,
      examples: ['lifeboat keys passphrase'],
    },
  );
  command(
    keys,
    'export <file>',
    'write the keys into a file for another machine',
    async () => (await import('./move-keys.ts')).keysExport,
    [
      instance(ofOne),
      new Option('--to <recipient...>', 'age recipients who can open it'),
      passphraseFile('the passphrase instead of recipients'),
      new Option('--with-identity', 'your age identity as well'),
    ],
    {
      about: `One armoured age file, under a passphrase that is asked for, or for recipients.
Tokens and the key that signs the journal stay here.`,
      examples: ['lifeboat keys export keys.age --to age1…'],
    },
  );
  command(
    keys,
    'import <file>',
    'store the keys of such a file: all of them, or none',
    async () => (await import('./move-keys.ts')).keysImport,
    [
      new Option('--identity <file>', 'a file of age identities (default: your own)'),
      passphraseFile('the passphrase of the file'),
    ],
    { examples: ['lifeboat keys import keys.age --identity ~/ada.txt'] },
  );
  command(
    keys,
    'split [instance]',
    'seal the keys so that several people open them',
    async () => (await import('./split-keys.ts')).keysSplit,
    [
      instance(ofOne),
      new Option('--shares <number>', 'how many shares (default: 5)'),
      new Option('--threshold <number>', 'how many of them open it (default: 3)'),
      new Option('--out <folder>', 'where to write (default: ./key-shares)'),
      new Option('--paper', 'a page to print for each share, with a QR code'),
    ],
    {
      about: `The keys are sealed to a key that is made for it; that one is split, and kept
nowhere. Everything is read back before the command ends.`,
      examples: ['lifeboat keys split --shares 5 --threshold 3 --paper --out ./shares'],
    },
  );
  command(
    keys,
    'join <file> [shares...]',
    'open such a file with enough shares, in memory',
    async () => (await import('./split-keys.ts')).keysJoin,
    [new Option('--check', 'only say whether they open it')],
    {
      about: `Each share is a file: its text, its page, or what a QR reader printed. Without
any, they are typed line by line; a line with a mistake is asked for again.`,
      examples: ['lifeboat keys join keys.age share-1.txt share-4.txt share-5.txt'],
    },
  );
}
