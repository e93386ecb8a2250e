import type { BackupSettings } from '../../../machines/parts/task-data.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Action } from '../../cli/define.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import type { BackupsConfig } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { isKeyWanted, type KeyFlags, newKeyOf } from './new-key.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { ChangeFlags } from './planned-change.ts';
import { backupConfigFacts, printFacts } from './print-facts.ts';

/** `lifeboat backup-config get`: prints the backup configuration (endpoint 8). */
export const configGet: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => service.backupsConfig());
  const { value } = answer;
  await printAnswer(context, 'backup-config', answer, () => printFacts(context, backupConfigFacts(value)));
  return EXIT.closed;
};

interface SettingFlags extends ChangeFlags, KeyFlags {
  readonly minBackupCount?: string;
  readonly retentionTime?: string;
  readonly excludeFromAutoBackup?: string;
}

/**
 * `lifeboat backup-config set` (endpoint 9). A key makes it a rotation, which asks for the instance's name.
 */
export const configSet: Action<SettingFlags> = (context, _, flags) => {
  const settings = settingsOf(flags);
  const wantsKey = isKeyWanted(flags);
  if (isEmpty(settings) && !wantsKey) {
    throw new LifeboatError('usage.nothing', 'no setting is named', {
      hints: [
        'for instance: lifeboat backup-config set NAME --retention-time 30',
        '`lifeboat backup-config set --help` lists the settings',
      ],
      exitCode: EXIT.usage,
    });
  }
  return changeInstance(context, flags, async (scene) => {
    const { instance } = scene;
    const now = (await instance.service.backupsConfig()).value;
    const key = wantsKey ? await newKeyOf(context, flags, scene, now.min_encryption_key_length) : undefined;
    return {
      single: {
        change: wantsKey ? 'setKey' : 'changeBackupSettings',
        setsKey: wantsKey,
        ...(isEmpty(settings) ? {} : { settings }),
      },
      weight: wantsKey ? 'destroys' : 'changes',
      ...(key === undefined ? {} : { key }),
      title: () => `set ${titleOf(settings, wantsKey)} of ${instance.name}`,
      warnings: () => [...settingWarnings(settings, now), ...(wantsKey ? KEY_WARNINGS : [])],
      done: ({ settings: { backups }, key: { stored } }) => {
        const { fingerprint } = stored ?? {};
        const set = fingerprint === undefined ? '' : ` (key ${fingerprint})`;
        return {
          fields: {
            ...(backups === undefined ? {} : { settings: backups.settings }),
            ...(fingerprint === undefined ? {} : { fingerprint }),
          },
          text: `set: ${titleOf(settings, wantsKey)}${set}`,
        };
      },
    };
  });
};

const KEY_WARNINGS = [
  'older backups may no longer be offered for download, and open only with the key they were made with',
  'the key is stored and read back before it is sent; `lifeboat run rotate-key NAME` proves it with a backup as well',
];

function settingsOf(flags: SettingFlags): BackupSettings {
  const { minBackupCount: count, retentionTime: days, excludeFromAutoBackup: exclude } = flags;
  return {
    ...(count === undefined ? {} : { minBackupCount: wholeNumber(count, '--min-backup-count', 0) }),
    ...(days === undefined ? {} : { retentionDays: wholeNumber(days, '--retention-time', 0) }),
    ...(exclude === undefined ? {} : { excludedFromAutoBackup: exclude === 'true' }),
  };
}

/** The service's names of the settings (service-api.md section 2.3). */
const WIRE = {
  minBackupCount: 'min_backup_count',
  retentionDays: 'retention_time',
  excludedFromAutoBackup: 'exclude_from_auto_backup',
} as const;
type Name = keyof typeof WIRE;

function isEmpty(settings: BackupSettings): boolean {
  return Object.keys(settings).length === 0;
}

function titleOf(settings: BackupSettings, key: boolean): string {
  const words = Object.entries(settings).map(([name, value]) => `${WIRE[name as Name]} to ${value}`);
  return [...words, ...(key ? ['a new encryption key'] : [])].join(', ');
}

/** If fewer backups are to be kept, the service deletes some by itself. */
function settingWarnings(settings: BackupSettings, now: BackupsConfig): string[] {
  const less = (['minBackupCount', 'retentionDays'] as const).filter(
    (name) => (settings[name] ?? Infinity) < (now[WIRE[name]] ?? 0),
  );
  return [
    ...less.map(
      (name) =>
        `${WIRE[name]} is ${now[WIRE[name]]} now: with less, the service deletes older backups by itself`,
    ),
    ...(settings.excludedFromAutoBackup ? ['no scheduled backups are made any more'] : []),
  ];
}
