import type { RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { expectedTarget } from '../../../machines/phases/expected-origin.ts';
import { errorFrom } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { lazyPlatform } from '../../compose/platform-of.ts';
import { placeOf } from '../../service/address.ts';
import { readLedger, readLedgers } from '../../store/projections/ledgers.ts';
import type { Seen } from './look-first.ts';
import type { Scene } from './planned-change.ts';

/**
 * Looks at the instance that a recovery goes into, as the runbook for it does: whether it is the source
 * itself, fits it, is free and empty and has room. The source is the one that is named, or the one whose card
 * has this guid. Rejects when the target cannot be read.
 */
export async function lookAtTarget(
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
      there === undefined ? undefined : { place: placeOf(there.url) },
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

/**
 * What the ledgers know of the source: of the one that is named, or of the one whose backups have this guid.
 */
async function sourceOnRecord(
  journal: Scene['workspace']['journal'],
  guid: string,
  named: string | undefined,
): Promise<{ readonly name: string | undefined; readonly card: RecoveryCard | undefined }> {
  if (named !== undefined) return { name: named, card: (await readLedger(journal, named)).card };
  for (const [name, { card }] of await readLedgers(journal)) {
    if (card !== undefined && (guid === card.backupGuid || guid.startsWith(`${card.backupGuid}-`)))
      return { name, card };
  }
  return { name: undefined, card: undefined };
}
