import { mayBeOfOneInstance } from '../../../machines/parts/backup-id.ts';
import type { RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { expectedOrigin, expectedTarget } from '../../../machines/phases/expected-origin.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { lazyPlatform } from '../../compose/instances.ts';
import { instanceNamed } from '../../config/load.ts';
import type { Json } from '../../store/journal.ts';
import { readLedger, readLedgers } from '../../store/projections/ledgers.ts';
import type { Output } from './call-outcome.ts';
import { changeInstance } from './change.ts';
import { lookInPlace, type Seen } from './look-first.ts';
import { isKeyWanted, type KeyFlags, lookForKey, newKeyOf, storeKey } from './new-key.ts';
import type { ChangeFlags, Scene } from './planned-change.ts';
import { followRestore, idOf } from './tasks.ts';

/**
 * `lifeboat dr prepare`: asks for the guid that a recovery needs (endpoint 10). With a key it is a rotation,
 * which asks for the instance's name.
 */
export const drPrepare: Action<ChangeFlags & KeyFlags> = (context, _, flags) => {
  const wantsKey = isKeyWanted(flags);
  const verb = 'prepareRecovery';
  const manner = wantsKey
    ? ({ weight: 'destroys', verb, look: lookForKey } as const)
    : ({ weight: 'changes', verb, look: lookInPlace({ tolerant: true }) } as const);
  return changeInstance<Seen>(context, flags, manner, async (scene, seen) => {
    const key = wantsKey ? await newKeyOf(context, flags, scene, seen) : undefined;
    return {
      title: `prepare disaster recovery of ${scene.instance.name}${wantsKey ? ', and set a new encryption key' : ''}`,
      warnings: wantsKey
        ? ['older backups may no longer be offered for download, and open only with their own key']
        : [],
      act: async (perform) => {
        if (key === undefined) return withGuid(await perform({ verb: 'prepareRecovery', input: {} }));
        const previous = await scene.currentKey();
        const { fingerprint } = await storeKey(perform, key);
        const input = { fingerprint, ...(previous === undefined ? {} : { previous }) };
        return withGuid({ ...(await perform({ verb: 'prepareRecovery', input })), fingerprint });
      },
      done: ({ backupGuid, fingerprint }) => ({
        fields: { backupGuid: textOf(backupGuid), fingerprint: textOf(fingerprint) },
        text: `backup_guid: ${backupGuid ?? ''}`,
      }),
    };
  });
};

/** The purpose of the command is the guid: an answer without it is a failure, whatever its status. */
function withGuid(output: Output): Output {
  const { backupGuid, fingerprint } = output;
  if (typeof backupGuid === 'string') return output;
  throw new LifeboatError('dr.no-guid', 'the service accepted the request and named no backup_guid', {
    hints: [
      ...(typeof fingerprint === 'string'
        ? [`key ${fingerprint} is kept and was sent: it may be in force`]
        : []),
      'look for the guid in the dashboard, or try again later',
    ],
  });
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

interface PerformFlags extends ChangeFlags {
  readonly backupGuid: string;
  readonly source?: string;
  readonly keyFile?: string;
  readonly key?: string;
}

/**
 * `lifeboat dr perform`: recovers another instance's backup into this one, which is the target (endpoint 11).
 */
export const drPerform: Action<PerformFlags> = (context, _, flags) => {
  if (flags.backupGuid.trim() === '') throw noGuid();
  const manner = {
    weight: 'destroys',
    verb: 'performRecovery',
    look: (scene: Scene) => lookAtTarget(context, scene, flags),
  } as const;
  return changeInstance(context, flags, manner, async (scene) => {
    const { instance } = scene;
    const { owner, fingerprint } = await keyInHand(context, flags, scene);
    const expectFrom = await expectedFrom(flags.backupGuid, owner, scene);
    return {
      title: `recover ${show(flags.backupGuid, 100)} into ${instance.name}`,
      warnings: [
        `all data of ${instance.name} is replaced`,
        `the backup is opened with key ${fingerprint}; with a wrong one the restore fails`,
        'afterwards every bound application must be unbound, bound again and restaged',
      ],
      act: (perform) =>
        perform({
          verb: 'performRecovery',
          input: {
            backupGuid: flags.backupGuid,
            fingerprint,
            source: owner,
            ...(expectFrom === undefined ? {} : { expectFrom: { ...expectFrom } }),
          },
        }),
      done: ({ id }) => ({
        fields: { id: idOf(id) },
        text: `restore ${id ?? '(no id)'} is queued`,
      }),
      wait: followRestore(context, instance),
    };
  });
};

/**
 * When the data of that backup dates from, by the record of its instance: identifies the recovery when its
 * answer is lost.
 */
async function expectedFrom(guid: string, owner: string, { workspace }: Scene) {
  const { card, proven } = await readLedger(workspace.journal, owner);
  return expectedOrigin(guid, { ...(card === undefined ? {} : { card }), proven: [...proven] });
}

/**
 * The key of the backup by its fingerprint, and the name under which it is kept: from a file, whose key is
 * then stored, or one of those held for the source.
 */
async function keyInHand(
  context: CommandContext,
  { keyFile, source, key: wanted }: PerformFlags,
  { instance, workspace, record, config }: Scene,
): Promise<{ readonly owner: string; readonly fingerprint: string }> {
  const { keyring, journal } = workspace;
  const owner = source ?? instance.name;
  if (keyFile !== undefined) {
    const key = await readSecretFile(keyFile, context);
    journal.guard(key);
    const isKnown = (await keyring.list(owner)).includes(await keyring.fingerprint(key));
    const fingerprint = await keyring.add(owner, key);
    const body = { fingerprint, note: `given for a recovery into ${instance.name}` };
    if (!isKnown) await record([{ instance: owner, type: 'key.added', body }]);
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

/**
 * Looks at the target of a recovery, as its runbook does: whether it is the source itself, fits it, is free
 * and empty and has room. The source is the named one, or the one whose card has this guid. Rejects when the
 * target cannot be read.
 */
async function lookAtTarget(
  context: CommandContext,
  { instance, workspace, config, signal }: Scene,
  { backupGuid, source: named }: { readonly backupGuid: string; readonly source?: string },
): Promise<Seen> {
  const { inspectTarget } = await import('../../activities/inspect-target.ts');
  const { journal } = workspace;
  const { name, card } = await sourceOnRecord(journal, backupGuid, named);
  const there =
    name !== undefined && Object.hasOwn(config.instances, name) ? config.instances[name] : undefined;
  const { platform, close } = lazyPlatform(context, config);
  try {
    const look = inspectTarget(
      depsFor(instance, { ...workspace, platform }),
      there === undefined ? undefined : { dashboardUrl: there.url },
    );
    const now = () => new Date();
    const report = () => undefined;
    const input = { on: 'target', ...expectedTarget(name, card, backupGuid) } as const;
    const result = await look.run(input, {
      runId: 'look',
      instance: instance.name,
      signal,
      now,
      report,
    });
    if (!result.ok) throw errorFrom(result.failure);
    const { blockers, warnings, identity } = result.output;
    return { blockers, warnings, target: identity };
  } finally {
    await close();
  }
}

/** What the ledgers know of the source: of the named one, or of the one whose backups have this guid. */
async function sourceOnRecord(
  journal: Scene['workspace']['journal'],
  guid: string,
  named: string | undefined,
): Promise<{ readonly name: string | undefined; readonly card: RecoveryCard | undefined }> {
  if (named !== undefined) return { name: named, card: (await readLedger(journal, named)).card };
  for (const [name, { card }] of await readLedgers(journal)) {
    if (card !== undefined && mayBeOfOneInstance(guid, card.backupGuid)) return { name, card };
  }
  return { name: undefined, card: undefined };
}
