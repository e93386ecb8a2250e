import { setTimeout as pause } from 'node:timers/promises';
import type { Activities, Progress } from '../../activities/activity.ts';
import type { Secret } from '../../base/secret.ts';
import { depsFor, noPlatform } from '../../compose/activity-deps.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { Caller } from '../../runner/call.ts';
import type { Who } from '../../store/run-entry-parts.ts';
import type { Scene } from './planned-change.ts';

/** What single calls of one instance need. */
type Place = Pick<Scene, 'instance' | 'workspace'>;

/** The verbs on an instance; `pendingKeys` are not stored yet. */
export async function activitiesOf(
  { instance, workspace }: Place,
  pendingKeys: ReadonlyMap<string, Secret>,
): Promise<Activities> {
  const { activitiesFor } = await import('../../activities/index.ts');
  return activitiesFor({ instance: depsFor(instance, { ...workspace, platform: noPlatform, pendingKeys }) });
}

/** Takes the ledger of the instance; calls `sealed` after each checkpoint before a call. */
export async function takeCaller(
  { instance, workspace }: Place,
  activities: Activities,
  by: {
    readonly who: Who;
    readonly signal: AbortSignal;
    readonly report: (progress: Progress) => void;
    readonly sealed?: () => void;
  },
): Promise<Caller> {
  const { who, signal, report, sealed } = by;
  const { takeLedger } = await import('../../runner/call.ts');
  return takeLedger({
    journal: workspace.journal,
    instance: instance.name,
    url: instance.config.url,
    who,
    activities,
    now: () => new Date(),
    signal,
    sleep: (ms, stop) => pause(ms, undefined, { signal: stop }),
    report,
    seal: async () => {
      await workspace.sealer.sealNow();
      sealed?.();
    },
  });
}

/** Releases the ledger, and seals what was written into it with a checkpoint; once. */
export function closing(caller: Caller, { sealer }: Workspace): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async () => {
    await caller.release();
    await sealer.sealRest();
  };
  return () => {
    closed ??= close();
    return closed;
  };
}
