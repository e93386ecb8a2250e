import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';

export function defineCustody(keys: Command, command: Define): void {
  command(
    keys,
    'show [instance]',
    'show the keys of an instance and what needs them',
    async () => (await import('./show.ts')).keysShow,
    [instance(), new Option('--key <fingerprint>', 'only this key')],
    {
      about: `States are those of NIST SP 800-57: pre-activation, active, deactivated,
compromised, destroyed. A key set by somebody else is unknown. Asks no service:
backups are those that were listed last.`,
      examples: ['lifeboat keys show orders'],
    },
  );
  command(
    keys,
    'fit [instance]',
    'find the key of each backup by its first bytes',
    async () => (await import('./fit.ts')).keysFit,
    [
      instance(),
      new Option('--all', 'every instance of the config'),
      new Option('--limit <time>', 'how long to wait for one answer (default: 20s)'),
    ],
    {
      about: `Each download is ended after its first block. A fit is weaker than a verify:
it does not show that the rest of the backup can be read. Exit 1 when a backup
has no held key, or could not be asked.`,
      examples: ['lifeboat keys fit orders', 'lifeboat keys fit --all -o json'],
    },
  );
  command(
    keys,
    'identity',
    'print your age recipient, to which others seal keys',
    async () => (await import('./escrow-prove.ts')).keysIdentity,
    [new Option('--hybrid', 'make one that resists quantum computers: longer')],
    { about: 'The identity itself is made once, stays in your key store and is never printed.' },
  );
  command(
    keys,
    'may-destroy <fingerprint>',
    'say whether anything still needs a key',
    async () => (await import('./end-key.ts')).keysMayDestroy,
    [instance()],
    {
      about: `Asks the service for its backups now. What cannot be known counts against it.
Exit 0 when the key may go, 1 otherwise.`,
      examples: ['lifeboat keys may-destroy 0123456789ab -i orders'],
    },
  );
  command(
    keys,
    'retire <fingerprint>',
    'stop offering a key; nothing is deleted',
    async () => (await import('./end-key.ts')).keysRetire,
    [
      instance(),
      new Option('--reason <text>', 'why, for the record'),
      new Option('--compromised', 'somebody else may know it'),
      new Option('--undo', 'offer it again'),
    ],
    { examples: ['lifeboat keys retire 0123456789ab -i orders --reason "replaced in May"'] },
  );
  command(
    keys,
    'destroy <fingerprint>',
    'schedule the end of a key that nothing needs',
    async () => (await import('./end-key.ts')).keysDestroy,
    [
      instance(),
      new Option('--in <time>', 'how long it stays, 1h to 3650d (default: 30d)'),
      new Option('--cancel', 'cancel the schedule').conflicts(['in', 'force', 'confirm']),
      new Option('--force', 'in spite of what is against it; reports say so'),
      new Option('--because <text>', 'why, for the record'),
      new Option('--confirm <fingerprint>', 'the fingerprint, in a script'),
    ],
    {
      about: `Any later keys command carries it out when it is due, unless something needs
the key then. Its record stays. A key that is destroyed opens no backup again.`,
      examples: ['lifeboat keys destroy 0123456789ab -i orders --in 30d'],
    },
  );
  const escrow = group(keys, 'escrow', 'keep sealed copies of keys that others can open', {
    about: `A copy is sealed with age to every recipient of the config. The age tool alone
opens it. Places and recipients: \`keys: { escrow: … }\` in lifeboat.yaml.`,
  });
  command(
    escrow,
    'check',
    'check the copies of every key, and who opens them',
    async () => (await import('./escrow.ts')).escrowCheck,
    [instance('only the keys of this instance')],
    { about: 'Exit 1 when the policy is not met.', examples: ['lifeboat keys escrow check'] },
  );
  command(
    escrow,
    'prove',
    'show that you can open a copy: opens a challenge',
    async () => (await import('./escrow-prove.ts')).escrowProve,
    [
      new Option('--identity <file>', 'a file of age identities (default: your own)'),
      new Option('--ask <recipient>', 'print a challenge for a holder elsewhere').conflicts([
        'open',
        'answer',
      ]),
      new Option('--open <file>', 'answer a challenge, without a store').conflicts('answer'),
      new Option('--answer <text>', 'put the answer of a holder elsewhere on record'),
    ],
    { examples: ['lifeboat keys escrow prove', 'lifeboat keys escrow prove --ask ada > challenge.txt'] },
  );
  command(
    escrow,
    'update [instance]',
    'seal again what lacks a copy or has other recipients',
    async () => (await import('./escrow-update.ts')).escrowUpdate,
    [instance('only the keys of this instance')],
    { examples: ['lifeboat keys escrow update'] },
  );
  command(
    escrow,
    'add <recipient>',
    'add a recipient and seal every held key to them',
    async () => (await import('./escrow-update.ts')).escrowAdd,
    [new Option('--name <name>', 'the name of the person')],
    { examples: ['lifeboat keys escrow add age1… --name Ada'] },
  );
  command(
    escrow,
    'remove <recipient>',
    'remove a recipient and seal every held key again',
    async () => (await import('./escrow-update.ts')).escrowRemove,
    [],
    {
      about: `Copies made before stay open to them: what they can still open is listed, and
only a new key shuts them out.`,
    },
  );
  command(
    escrow,
    'open [instance]',
    'bring keys back from sealed copies into your key store',
    async () => (await import('./escrow-open.ts')).escrowOpen,
    [
      instance('only the keys of this instance'),
      new Option('--from <place>', 'a folder, or store (default: the places of the config)'),
      new Option('--identity <file>', 'a file of age identities (default: your own)'),
      new Option('--no-fit', 'do not try the keys on the listed backups'),
    ],
    {
      about: `Each key is checked by its fingerprint, and then by the backups that it fits.
Nothing that is held is overwritten.`,
      examples: ['lifeboat keys escrow open --from ./escrow --identity ~/ada.txt'],
    },
  );
}
