import { type Command, Option } from 'commander';
import { type Define, group, instance, TIME } from '../../cli/define.ts';
import { patience, tokenFile } from '../run/run-options.ts';

/** Every endpoint (service-api.md section 4), for scripts and what no runbook covers. */
export function defineService(program: Command, command: Define): void {
  defineBackups(program, command);
  defineConfig(program, command);
  defineInstance(program, command);
  defineRecoveries(program, command);
}

/** Help text of every command that changes something. */
const CHANGES = `It says what will happen, and asks. In a script, --yes agrees to what can be
undone, and --confirm NAME to what cannot. It is a run: \`lifeboat runs\` lists
it, \`resume\` goes on with it, and a call in doubt stops the next change.`;

const RESTORES = `${CHANGES}
The run stays open (exit code 3) until its follow-ups are done or skipped;
--no-follow-ups leaves them to others.`;

function defineBackups(program: Command, command: Define): void {
  const backups = group(program, 'backups', 'list, create, download and restore backups');
  command(
    backups,
    'list [instance]',
    'list the backups of an instance',
    async () => (await import('./backups.ts')).backupsList,
    naming(),
    { examples: ['lifeboat backups list orders', 'lifeboat backups list orders -o json'] },
  );
  command(
    backups,
    'get <id>',
    'show one backup',
    async () => (await import('./backups.ts')).backupsGet,
    [...naming(), ...waiting('wait until it has ended')],
    { examples: ['lifeboat backups get 12 -i orders --wait'] },
  );
  command(
    backups,
    'create [instance]',
    'create a backup',
    async () => (await import('./change-backups.ts')).backupsCreate,
    changing({ waits: true }),
    { about: CHANGES, examples: ['lifeboat backups create orders --yes --wait'] },
  );
  command(
    backups,
    'download <id>',
    'save the encrypted bytes of a backup',
    async () => (await import('./download.ts')).backupsDownload,
    [
      ...naming(),
      new Option('--out <file>', 'default: INSTANCE-backup-ID.tgz.enc; - for stdout'),
      new Option('--force', 'replace an existing file'),
    ],
    {
      about: `It goes on where an earlier download ended, where the service offers that. At
the end it compares size and beginning, and prints the SHA-256.`,
      examples: ['lifeboat backups download 12 -i orders'],
    },
  );
  command(
    backups,
    'restore <id>',
    'replace the data of the instance with a backup',
    async () => (await import('./change-backups.ts')).backupsRestore,
    changing({ waits: true, restores: true }),
    {
      about: `${RESTORES}\n\n\`lifeboat run restore-backup NAME\` first saves what the restore loses.`,
      examples: ['lifeboat backups restore 12 -i orders --wait'],
    },
  );

  const restores = group(program, 'restores', 'list and show restores');
  command(
    restores,
    'list [instance]',
    'list the restores of an instance',
    async () => (await import('./restores.ts')).restoresList,
    naming(),
  );
  command(restores, 'get <id>', 'show one restore', async () => (await import('./restores.ts')).restoresGet, [
    ...naming(),
    ...waiting('wait until it has ended'),
  ]);
}

function defineConfig(program: Command, command: Define): void {
  const config = group(program, 'backup-config', 'show and change the backup configuration', {
    about: 'The service keeps it. Lifeboat has its own configuration, in lifeboat.yaml.',
  });
  command(
    config,
    'get [instance]',
    'show the backup configuration',
    async () => (await import('./config.ts')).configGet,
    naming(),
  );
  command(
    config,
    'set [instance]',
    'change the backup configuration',
    async () => (await import('./config.ts')).configSet,
    [
      new Option('--min-backup-count <n>', 'keep at least this many backups'),
      new Option('--retention-time <days>', 'delete backups after this many days'),
      new Option('--exclude-from-auto-backup <bool>', 'true: no scheduled backups').choices([
        'true',
        'false',
      ]),
      ...newKey(),
      ...changing({}),
    ],
    {
      about: `${CHANGES}\n\nA new key is stored and read back before it is sent.`,
      examples: ['lifeboat backup-config set orders --retention-time 30'],
    },
  );
}

function defineInstance(program: Command, command: Define): void {
  const itself = group(program, 'instance', 'show, restart, recreate or update an instance');
  command(
    itself,
    'show [instance]',
    'show the overview of an instance',
    async () => (await import('./instance.ts')).instanceShow,
    naming(),
  );
  command(
    itself,
    'restart [instance]',
    'restart the database',
    async () => (await import('./instance.ts')).instanceRestart,
    changing({ waits: true }),
    { about: CHANGES },
  );
  command(
    itself,
    'recreate [instance]',
    'rebuild the machines of the instance',
    async () => (await import('./instance.ts')).instanceRecreate,
    changing({ waits: true }),
    { about: CHANGES },
  );
  command(
    itself,
    'update [instance]',
    'install the pending maintenance updates',
    async () => (await import('./instance.ts')).instanceUpdate,
    changing({ waits: true }),
    { about: CHANGES },
  );
  command(
    itself,
    'settings [instance]',
    'allow or forbid maintenance updates (revision 61)',
    async () => (await import('./instance.ts')).instanceSettings,
    [
      new Option('--allow-updates <bool>', 'whether updates are allowed: true or false')
        .choices(['true', 'false'])
        .makeOptionMandatory(),
      new Option('--type <word>', 'the kind of the setting').default('general'),
      ...changing({}),
    ],
    { about: CHANGES },
  );
  command(
    program,
    'metrics [instance]',
    'show measurements; disks and their parachute first',
    async () => (await import('./metrics.ts')).metrics,
    [
      new Option('--quantity <n>', 'only the latest data points'),
      new Option('--path <text>', 'only paths with this in them'),
      ...naming(),
    ],
  );
}

function defineRecoveries(program: Command, command: Define): void {
  const pitr = group(program, 'pitr', 'show the point-in-time range; restore to a time');
  command(
    pitr,
    'show [instance]',
    'show the range that can be restored to',
    async () => (await import('./pitr.ts')).pitrShow,
    naming(),
  );
  command(
    pitr,
    'restore [instance]',
    'bring the instance back to a point in time',
    async () => (await import('./pitr.ts')).pitrRestore,
    [new Option('--to <time>', TIME).makeOptionMandatory(), ...changing({ waits: true, restores: true })],
    {
      about: `${RESTORES}\n\n\`lifeboat run restore-point-in-time NAME\` first saves what the restore loses.`,
      examples: ['lifeboat pitr restore orders --to "10 minutes ago"'],
    },
  );

  const dr = group(program, 'dr', 'prepare and perform disaster recovery by hand', {
    about: '`lifeboat run disaster-recovery NAME` does both, checks the target, and keeps a record.',
  });
  command(
    dr,
    'prepare [instance]',
    'get the guid that a recovery needs',
    async () => (await import('./dr.ts')).drPrepare,
    [...newKey(), ...changing({})],
    { about: `${CHANGES}\n\nWith a key it sets that key as well.` },
  );
  command(
    dr,
    'perform [instance]',
    'recover a backup of another instance into this one',
    async () => (await import('./dr.ts')).drPerform,
    [
      new Option('--backup-guid <guid>', 'from `dr prepare`; or a backup_id').makeOptionMandatory(),
      new Option('--source <name>', 'take the key from those held for this instance'),
      new Option('--key <fingerprint>', 'which of them'),
      new Option('--key-file <file>', 'take the key from this file (- for stdin)').conflicts('key'),
      ...changing({ waits: true, target: true, restores: true }),
    ],
    {
      about: RESTORES,
      examples: ['lifeboat dr perform orders-dr --backup-guid GUID --source orders'],
    },
  );
}

function changing(does: {
  readonly waits?: boolean;
  readonly target?: boolean;
  readonly restores?: boolean;
}): Option[] {
  return [
    ...naming(does.target),
    new Option('--yes', 'confirm a change that destroys nothing'),
    new Option('--confirm <name>', "confirm any change, by the instance's name"),
    ...(does.waits ? waiting('follow it to its end') : []),
    new Option('--reason <text>', 'why, for the record'),
    new Option('--anyway <reason>', 'do it despite what was found; recorded'),
    new Option('--break-glass <reason>', 'skip the second person; goes on record'),
    ...(does.restores
      ? [new Option('--no-follow-ups <why>', 'others do the follow-ups; goes on record')]
      : []),
  ];
}

function waiting(what: string): Option[] {
  return [new Option('--wait', what), patience()];
}

/** Flags that name the instance to ask, and the token to use. */
function naming(target = false): Option[] {
  return [
    target ? instance('the instance to recover into (default: the only one)') : instance(),
    tokenFile(),
  ];
}

function newKey(): Option[] {
  return [
    new Option('--new-key', 'make, store and set a new key').conflicts(['keyFile', 'askKey']),
    new Option('--key-file <file>', 'set the key in this file (- for stdin)'),
    new Option('--ask-key', 'set a key that is asked for, hidden').conflicts(['keyFile', 'newKey']),
  ];
}
