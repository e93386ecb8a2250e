import type { BackupSettings } from '../../../machines/parts/task-data.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Action } from '../../cli/define.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import type { BackupsConfig } from '../../service/schemas.ts';
import type { Output } from './call-outcome.ts';
import { changeInstance, noLook } from './change.ts';
import type { Seen } from './look-first.ts';
import { isKeyWanted, type KeyFlags, lookForKey, newKeyOf, setKey } from './new-key.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { ChangeFields, ChangeFlags } from './planned-change.ts';
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
 * `lifeboat backup-config set`: changes the backup configuration (endpoint 9). A key among the values makes
 * it a rotation, which asks for the instance's name.
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
  const manner = wantsKey
    ? ({ weight: 'destroys', verb: 'setKey', look: lookForKey } as const)
    : ({ weight: 'changes', verb: 'changeBackupSettings', look: noLook } as const);
  return changeInstance<Seen>(context, flags, manner, async (scene, seen) => {
    const now = (await scene.instance.service.backupsConfig()).value;
    const key = wantsKey ? await newKeyOf(context, flags, scene, seen) : undefined;
    return {
      title: `set ${titleOf(settings, wantsKey)} of ${scene.instance.name}`,
      warnings: [...settingWarnings(settings, now), ...(wantsKey ? KEY_WARNINGS : [])],
      act: async (perform) => {
        const changed = isEmpty(settings)
          ? {}
          : await perform({
              verb: 'changeBackupSettings',
              input: { settings: settings as Readonly<Record<string, number | boolean>> },
            });
        return key === undefined ? changed : { ...changed, ...(await setKey(perform, key, scene)) };
      },
      done: (output) => ({
        fields: fieldsOf(output),
        text: `set: ${titleOf(settings, wantsKey)}${fingerprintOf(output)}`,
      }),
    };
  });
};

const KEY_WARNINGS = [
  'older backups may no longer be offered for download, and open only with the key they were made with',
  'the key is stored and read back before it is sent; `lifeboat run rotate-key NAME` proves it with a backup as well',
];

function fingerprintOf({ fingerprint }: Output): string {
  return fingerprint === undefined ? '' : ` (key ${fingerprint})`;
}

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

/** The current settings, and the key by its fingerprint. */
function fieldsOf({ settings, fingerprint }: Output): ChangeFields {
  return {
    ...(settings === undefined ? {} : { settings: settings as BackupSettings }),
    ...(fingerprint === undefined ? {} : { fingerprint: String(fingerprint) }),
  };
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
