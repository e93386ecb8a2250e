import type { BoundApp, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { type BindingStage, bindingFailed, isOf, pathToBinding, stageOf } from '../capi/bindings.ts';
import { auditEvents, getIfThere } from '../capi/capi.ts';
import { requirePackage } from '../capi/find-bindings.ts';
import { noBinding, unboundBefore } from '../capi/proofs.ts';
import { Binding } from '../capi/schemas.ts';
import type { RebindOptions } from '../platform.ts';
import { hasCode, ownBinding, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { type PacedApi, requireMade, waitForJob } from './paced-api.ts';

/** See `Platform.unbind`. */
export async function unbind(paced: PacedApi, app: BoundApp, options: RebindOptions): Promise<PlatformProof> {
  const name = show(app.name, 100);
  if (app.binding === undefined) return noBinding(app);
  const { guid } = app.binding;
  const begun = new Date();
  const what = `unbinding ${name}`;
  if (await isThere(paced, guid, what, options)) await requirePackage(paced.api, app, options.signal);
  const removed = await removeBinding(paced, guid, what, options, paced.pace.unbindMs);
  const evidence = { app: app.guid, binding: guid, job: removed.job };
  if (removed.outcome === 'already') return unboundBefore(app, evidence);
  const events = await auditEvents(paced.api, [guid], begun.toISOString(), options.signal);
  return proof('done', `${name} is unbound`, removed.at?.toISOString(), { ...evidence, ...events });
}

/**
 * Whether there still is a binding to remove. Rejects if it is the new one: without it the application would
 * have no credentials.
 */
async function isThere(
  { api }: PacedApi,
  guid: string,
  what: string,
  { runId, signal }: RebindOptions,
): Promise<boolean> {
  const found = await getIfThere(api, pathToBinding(guid), Binding, signal);
  if (found !== undefined && isOf(runId, found.value)) throw ownBinding(what, guid);
  return found !== undefined && stageOf(found.value) !== 'deleting';
}

interface Removed {
  readonly outcome: 'done' | 'already';
  readonly job?: string | undefined;
  /** When its job was seen to be over, by the platform's clock. */
  readonly at?: Date | undefined;
}

/**
 * Deletes a binding or a service key and waits until it is gone. Repeatable: a missing one is `already`, one
 * being removed is waited for, and a failed removal is retried. Rejects with `platform.failed`: with the
 * broker's words, or after the limit, because a broker that is gone may have accepted the request and will
 * never finish.
 */
export async function removeBinding(
  paced: PacedApi,
  guid: string,
  what: string,
  { signal, mayLeave, tell }: Pick<RebindOptions, 'signal' | 'mayLeave' | 'tell'>,
  limitMs: number,
): Promise<Removed> {
  const { api, pace } = paced;
  const path = pathToBinding(guid);
  const stage = async (): Promise<BindingStage | 'gone'> => {
    const found = await getIfThere(api, path, Binding, signal);
    return found === undefined ? 'gone' : stageOf(found.value);
  };

  const before = await stage();
  if (before === 'gone') return { outcome: 'already' };
  tell?.(what);
  let job: string | undefined;
  if (before !== 'deleting') {
    const made = async () => (['gone', 'deleting'].includes(await stage()) ? true : undefined);
    const sent = await api
      .send({ method: 'DELETE', path, signal, mayLeave, made })
      .catch((thrown: unknown) => {
        if (hasCode(thrown, 'platform.not-found')) return undefined;
        throw thrown;
      });
    if (sent !== undefined) await requireMade(paced, what, sent, signal, made);
    if (sent?.outcome === 'accepted') job = sent.job;
  }
  const { at } = await waitForJob(paced, job, { what, signal, tell, limitMs });
  await waitFor({ signal, pace, what, limitMs }, async () => {
    const found = await getIfThere(api, path, Binding, signal);
    if (found === undefined) return true;
    if (stageOf(found.value) !== 'delete-failed') return undefined;
    throw bindingFailed(what, found.value);
  });
  return { outcome: 'done', job, at };
}
