import type { PlatformInstance, PlatformProof, ServiceKey } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { BINDINGS, isAfterRestore, isOf, keysNamed, labelsOf, stageOf } from '../capi/bindings.ts';
import { parametersOf } from '../capi/parameters.ts';
import { renewed } from '../capi/prove.ts';
import type { Binding } from '../capi/schemas.ts';
import type { KeyOptions } from '../platform.ts';
import { failedError, hasCode } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { removeBinding } from './bind.ts';
import { type PacedApi, requireMade, secretsIn, waitForJob } from './connection.ts';

/**
 * See `Platform.renewKey`. Deletes the old key of that name on the instance and creates it again. A key of
 * the lost instance is left alone.
 */
export async function renewKey(
  paced: PacedApi,
  key: ServiceKey,
  to: PlatformInstance,
  options: KeyOptions,
): Promise<PlatformProof> {
  const { api, pace } = paced;
  const { signal, mayLeave, runId, notBefore, tell } = options;
  const what = `renewing the service key ${show(key.name, 100)}`;
  const keys = () => keysNamed(api, key.name, to.guid, signal);
  const young = (one: Binding) => isAfterRestore(one, { runId, notBefore });

  const isUsable = (one: Binding) => young(one) && ['there', 'creating'].includes(stageOf(one));
  const adopt = async (one: Binding) => {
    const made = await waitForKey(paced, one.guid, what, keys, signal);
    return renewed(api, 'already', { key, to, made }, options);
  };

  const [before] = await keys();
  if (before !== undefined && isUsable(before)) return adopt(before);
  const parameters =
    options.parameters ?? (before === undefined ? undefined : await parametersOf(api, before.guid, signal));
  const removed =
    before === undefined ? undefined : await removeBinding(paced, before.guid, what, options, pace.unbindMs);

  tell?.(what);
  const secrets = secretsIn(parameters);
  const body = {
    type: 'key',
    name: key.name,
    relationships: { service_instance: { data: { guid: to.guid } } },
    ...(parameters === undefined ? {} : { parameters }),
    metadata: labelsOf(runId),
  };
  const ours = async () => (await keys()).find((one) => isOf(runId, one) && young(one));
  const sent = await api
    .send({
      method: 'POST',
      path: BINDINGS,
      body,
      secrets,
      signal,
      mayLeave,
      made: ours,
    })
    .catch(async (thrown: unknown) => {
      // A request of an earlier attempt may arrive only now: then the name is taken.
      const [late] = hasCode(thrown, 'platform.refused') ? await keys() : [];
      if (late !== undefined && isUsable(late)) return { late };
      throw thrown;
    });
  if ('late' in sent) return adopt(sent.late);
  await requireMade(paced, what, sent, signal, ours);
  const job = sent.outcome === 'accepted' ? sent.job : undefined;
  await waitForJob(paced, job, { what, signal, secrets, tell, limitMs: pace.bindMs });
  const { guid } = await waitFor({ signal, pace, what, limitMs: pace.startupMs }, ours);
  const made = await waitForKey(paced, guid, what, keys, signal);
  return renewed(api, 'done', { key, to, made }, options, { deletion: removed?.job, job });
}

async function waitForKey(
  { pace }: PacedApi,
  guid: string,
  what: string,
  keys: () => Promise<Binding[]>,
  signal: AbortSignal,
): Promise<Binding> {
  return waitFor({ signal, pace, what, limitMs: pace.bindMs }, async () => {
    const one = (await keys()).find((found) => found.guid === guid);
    if (one === undefined) throw failedError(`${what}: the new key is gone`, '', { key: guid });
    if (stageOf(one) === 'there') return one;
    if (stageOf(one) === 'creating') return undefined;
    throw failedError(`${what} has failed`, show(one.last_operation?.description ?? ''), { key: guid });
  });
}
