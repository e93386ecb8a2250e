import { mayBeOfOneInstance } from '../../../machines/parts/backup-id.ts';
import type { RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { expectedOrigin, expectedTarget } from '../../../machines/phases/expected-origin.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { isSameInstance } from '../../base/instance-url.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { instanceNamed } from '../../config/load.ts';
import { appendHolding } from '../../runner/holds.ts';
import { readLedger, readLedgers } from '../../store/projections/ledgers.ts';
import { changeInstance } from './change.ts';
import { isKeyWanted, type KeyFlags, newKeyOf } from './new-key.ts';
import type { ChangeFlags, Scene } from './planned-change.ts';
import { restoreFields, showRestore } from './tasks.ts';

/**
 * `lifeboat dr prepare`: asks for the guid that a recovery needs (endpoint 10). With a key it is a rotation,
 * which asks for the instance's name.
 */
export const drPrepare: Action<ChangeFlags & KeyFlags> = (context, _, flags) => {
  const wantsKey = isKeyWanted(flags);
  return changeInstance(context, flags, async (scene) => {
    const { instance } = scene;
    const least = wantsKey ? await leastKeyLength(instance) : undefined;
    const key = wantsKey ? await newKeyOf(context, flags, scene, least) : undefined;
    return {
      single: { change: 'prepareRecovery', setsKey: wantsKey },
      weight: wantsKey ? 'destroys' : 'changes',
      ...(key === undefined ? {} : { key }),
      title: () =>
        `prepare disaster recovery of ${instance.name}${wantsKey ? ', and set a new encryption key' : ''}`,
      warnings: () =>
        wantsKey
          ? ['older backups may no longer be offered for download, and open only with their own key']
          : [],
      done: ({ card, key: { stored } }) => ({
        fields: {
          ...(card.guid === undefined ? {} : { backupGuid: card.guid }),
          ...(stored === undefined ? {} : { fingerprint: stored.fingerprint }),
        },
        text: `backup_guid: ${card.guid ?? ''}`,
      }),
    };
  });
};

async function leastKeyLength({ service }: OpenInstance): Promise<number | undefined> {
  return (await service.backupsConfig()).value.min_encryption_key_length;
}

interface PerformFlags extends ChangeFlags {
  readonly backupGuid: string;
  readonly source?: string;
  readonly keyFile?: string;
  readonly key?: string;
}

/** `lifeboat dr perform`: recovers another instance's backup into this target (endpoint 11). */
export const drPerform: Action<PerformFlags> = (context, _, flags) => {
  const { backupGuid: guid } = flags;
  if (guid.trim() === '') throw noGuid();
  return changeInstance(context, flags, async (scene) => {
    const { instance, workspace } = scene;
    const { owner, fingerprint } = await keyInHand(context, flags, scene);
    const expectFrom = await expectedFrom(guid, owner, scene);
    const { name, card } = await sourceOnRecord(workspace.journal, guid, flags.source);
    assertOtherInstance(scene, name);
    return {
      single: {
        change: 'performRecovery',
        setsKey: false,
        guid,
        fingerprint,
        source: owner,
        ...(expectFrom === undefined ? {} : { expectFrom }),
        lost: expectedTarget(name, card, guid),
      },
      weight: 'destroys',
      title: () => `recover ${show(guid, 100)} into ${instance.name}`,
      warnings: () => [
        `all data of ${instance.name} is replaced`,
        `the backup is opened with key ${fingerprint}; with a wrong one the restore fails`,
        'afterwards every bound application must be unbound, bound again and restaged',
      ],
      done: (run) => restoreFields(run, 'is queued'),
      show: showRestore(context),
    };
  });
};

/** Rejects a source with the target's address (`target.is-source`, exit 2): its data would be lost. */
function assertOtherInstance({ config, instance }: Scene, source: string | undefined): void {
  const there =
    source !== undefined && Object.hasOwn(config.instances, source) ? config.instances[source] : undefined;
  // Under the same name the look of the run finds it.
  if (there === undefined || source === instance.name) return;
  if (isSameInstance(there.url, instance.config.url) !== true) return;
  const why = `the config gives it the address of ${source}`;
  const what = `target ${instance.name} is the source itself: ${why}; nothing was sent`;
  throw new LifeboatError('target.is-source', what, {
    hints: ['choose another instance of the same service and plan'],
    exitCode: EXIT.usage,
  });
}

/** The age of that backup's data, by its instance's record: identifies the recovery if its answer is lost. */
async function expectedFrom(guid: string, owner: string, { workspace }: Scene) {
  const { card, proven } = await readLedger(workspace.journal, owner);
  return expectedOrigin(guid, { ...(card === undefined ? {} : { card }), proven: [...proven] });
}

/**
 * The backup's key by fingerprint, and its owner's name: from a file (then stored), or held for the source.
 */
async function keyInHand(
  context: CommandContext,
  { keyFile, source, key: wanted }: PerformFlags,
  { instance, workspace, config }: Scene,
): Promise<{ readonly owner: string; readonly fingerprint: string }> {
  const { keyring, journal } = workspace;
  const owner = source ?? instance.name;
  if (keyFile !== undefined) {
    const key = await readSecretFile(keyFile, context);
    journal.guard(key);
    const isKnown = (await keyring.list(owner)).includes(await keyring.fingerprint(key));
    const fingerprint = await keyring.add(owner, key);
    const body = { fingerprint, note: `given for a recovery into ${instance.name}` };
    if (!isKnown) await appendHolding(journal, [{ stream: `instance/${owner}`, type: 'key.added', body }]);
    return { owner, fingerprint };
  }
  const held = await keyring.list(owner);
  const fits = held.filter((fingerprint) => fingerprint.startsWith(wanted ?? ''));
  const [only, another] = fits;
  if (only !== undefined && another === undefined) return { owner, fingerprint: only };
  // For a mistyped name, "no key is held" would read as if the key were lost.
  if (held.length === 0) instanceNamed(config, owner);
  throw new LifeboatError(
    'usage.key',
    fits.length > 0
      ? 'which key? name one'
      : `no ${wanted === undefined ? '' : 'such '}key is held for ${owner}`,
    {
      hints: [
        ...held.slice(0, 10).map((fingerprint) => `--key ${fingerprint}`),
        'or name a file: --key-file FILE; keys of the source: --source NAME',
        'nothing was sent',
      ],
      exitCode: EXIT.usage,
    },
  );
}

function noGuid(): LifeboatError {
  return new LifeboatError('usage.guid', 'the backup_guid is empty', {
    hints: [
      '`lifeboat dr prepare SOURCE` prints it; a backup_id recovers only that backup',
      'nothing was sent',
    ],
    exitCode: EXIT.usage,
  });
}

/** The named instance, or the one whose backups have this guid. */
async function sourceOnRecord(
  journal: Workspace['journal'],
  guid: string,
  named: string | undefined,
): Promise<{ readonly name: string | undefined; readonly card: RecoveryCard | undefined }> {
  if (named !== undefined) return { name: named, card: (await readLedger(journal, named)).card };
  for (const [name, { card }] of await readLedgers(journal)) {
    if (card !== undefined && mayBeOfOneInstance(guid, card.backupGuid)) return { name, card };
  }
  return { name: undefined, card: undefined };
}
