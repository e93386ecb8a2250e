import { type Command, Option } from 'commander';
import { type Define, group, instance, TIME } from '../../cli/define.ts';
import { patience } from '../run/run-options.ts';

/**
 * The commands for every endpoint of the service (service-api.md section 4), for scripts and for what no
 * runbook covers.
 */
export function defineService(program: Command, command: Define): void {
  const backups = group(program, 'backups', 'backups of an instance: list, get, create, download, restore');
  command(
    backups,
    'list [instance]',
    'every backup, as the service lists them',
    async () => (await import('./backups.ts')).backupsList,
    naming(),
  );
  command(backups, 'get <id>', 'one backup', async () => (await import('./backups.ts')).backupsGet, [
    ...naming(),
    ...waiting('look until it has ended'),
  ]);
  command(
    backups,
    'create [instance]',
    'ask for a backup',
    async () => (await import('./backups.ts')).backupsCreate,
    changing({ waits: true }),
  );
  command(
    backups,
    'download <id>',
    'save the encrypted bytes of a backup; goes on where an earlier download ended, if the service lets it',
    async () => (await import('./download.ts')).backupsDownload,
    [
      ...naming(),
      new Option(
        '--out <file>',
        'where to (- for standard output; default: INSTANCE-backup-ID.tgz.enc in this folder)',
      ),
      new Option('--force', 'replace a file that is there'),
    ],
  );
  command(
    backups,
    'restore <id>',
    'replace the data of the instance by this backup',
    async () => (await import('./backups.ts')).backupsRestore,
    changing({ waits: true }),
  );

  const restores = group(program, 'restores', 'restores of an instance: list, get');
  command(
    restores,
    'list [instance]',
    'every restore, as the service lists them',
    async () => (await import('./restores.ts')).restoresList,
    naming(),
  );
  command(restores, 'get <id>', 'one restore', async () => (await import('./restores.ts')).restoresGet, [
    ...naming(),
    ...waiting('look until it has ended'),
  ]);

  const config = group(program, 'backup-config', 'backup configuration of an instance: get, set');
  command(
    config,
    'get [instance]',
    'the configuration',
    async () => (await import('./config.ts')).configGet,
    naming(),
  );
  command(
    config,
    'set [instance]',
    'change it; a new key is stored and read back before it is sent',
    async () => (await import('./config.ts')).configSet,
    [
      new Option('--min-backup-count <n>', 'backups that are kept at least'),
      new Option('--retention-time <days>', 'days after which backups are deleted'),
      new Option(
        '--exclude-from-auto-backup <bool>',
        'whether to leave the instance out of scheduled backups',
      ).choices(['true', 'false']),
      ...newKey(),
      ...changing({}),
    ],
  );

  const itself = group(program, 'instance', 'an instance itself: show, restart, recreate, update, settings');
  command(
    itself,
    'show [instance]',
    'the overview',
    async () => (await import('./instance.ts')).instanceShow,
    naming(),
  );
  command(
    itself,
    'restart [instance]',
    'restart the database',
    async () => (await import('./instance.ts')).instanceRestart,
    changing({ waits: true }),
  );
  command(
    itself,
    'recreate [instance]',
    'build the machines of the instance anew',
    async () => (await import('./instance.ts')).instanceRecreate,
    changing({ waits: true }),
  );
  command(
    itself,
    'update [instance]',
    'install the pending maintenance updates',
    async () => (await import('./instance.ts')).instanceUpdate,
    changing({ waits: true }),
  );
  command(
    itself,
    'settings [instance]',
    'allow or forbid maintenance updates (revision 61)',
    async () => (await import('./instance.ts')).instanceSettings,
    [
      new Option('--allow-updates <bool>', 'whether updates are allowed')
        .choices(['true', 'false'])
        .makeOptionMandatory(),
      new Option('--type <word>', 'the kind of the setting').default('general'),
      ...changing({}),
    ],
  );

  command(
    program,
    'metrics [instance]',
    'measurements, disks against the parachute first',
    async () => (await import('./metrics.ts')).metrics,
    [
      new Option('--quantity <n>', 'only the latest n data points'),
      new Option('--path <text>', 'only paths with this in them'),
      ...naming(),
    ],
  );

  const pitr = group(program, 'pitr', 'point-in-time recovery: show, restore');
  command(
    pitr,
    'show [instance]',
    'the range that can be restored to',
    async () => (await import('./pitr.ts')).pitrShow,
    naming(),
  );
  command(
    pitr,
    'restore [instance]',
    'bring the instance back to a point in time',
    async () => (await import('./pitr.ts')).pitrRestore,
    [new Option('--to <time>', TIME).makeOptionMandatory(), ...changing({ waits: true })],
  );

  const dr = group(program, 'dr', 'disaster recovery: prepare, perform');
  command(
    dr,
    'prepare [instance]',
    'get the guid that a recovery needs; with a key it sets that key',
    async () => (await import('./dr.ts')).drPrepare,
    [...newKey(), ...changing({})],
  );
  command(
    dr,
    'perform [instance]',
    'recover a backup of another instance into this one',
    async () => (await import('./dr.ts')).drPerform,
    [
      new Option(
        '--backup-guid <guid>',
        'what `dr prepare` gave; or a backup_id, for that backup',
      ).makeOptionMandatory(),
      new Option('--source <name>', 'take the key from those held for this instance'),
      new Option('--key <fingerprint>', 'which of them'),
      new Option('--key-file <file>', 'take the key from this file (- for standard input)').conflicts('key'),
      ...changing({ waits: true, target: true }),
    ],
  );

  const calls = group(program, 'calls', 'calls of these commands that are in doubt: list, resolve');
  command(
    calls,
    'list [instance]',
    'what may have been sent, and nobody knows what became of it',
    async () => (await import('./calls.ts')).callsList,
    [instance('only those of this instance')],
  );
  command(
    calls,
    'resolve [call]',
    'decide what became of one, where the service cannot tell; sends nothing',
    async () => (await import('./calls.ts')).callsResolve,
    [
      ...naming(),
      new Option(
        '--became <id>',
        'the id of the backup or restore that it became, or `nothing`',
      ).makeOptionMandatory(),
      new Option('--reason <text>', 'how you know').makeOptionMandatory(),
    ],
  );
}

/** Flags of commands that change something. */
function changing(does: { readonly waits?: boolean; readonly target?: boolean }): Option[] {
  return [
    ...naming(does.target),
    new Option('--yes', 'do it without asking, where nothing is destroyed'),
    new Option('--confirm <name>', 'the typed name, when no one is there to type it'),
    ...(does.waits ? waiting('follow it to its end') : []),
    new Option('--reason <text>', 'why, for the record'),
    new Option('--anyway <reason>', 'do it although something speaks against it; the reason is recorded'),
    new Option('--break-glass <reason>', 'do it without the second person who would have to approve it'),
  ];
}

function waiting(what: string): Option[] {
  return [new Option('--wait', what), patience('with --wait, when no one is there')];
}

/** Flags that say whom to ask, and as whom. */
function naming(target = false): Option[] {
  return [
    target ? instance('the instance to recover into (default: the only one)') : instance(),
    new Option('--token-file <file>', 'read the access token from this file'),
  ];
}

function newKey(): Option[] {
  return [
    new Option('--new-key', 'set a new encryption key, made here and kept in the key store').conflicts([
      'keyFile',
      'askKey',
    ]),
    new Option('--key-file <file>', 'set the encryption key in this file (- for standard input)'),
    new Option('--ask-key', 'set an encryption key that is asked for, hidden').conflicts([
      'keyFile',
      'newKey',
    ]),
  ];
}
