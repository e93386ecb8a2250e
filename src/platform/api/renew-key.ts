import type { PlatformInstance, PlatformProof, ServiceKey } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { isAfterRestore, isOf, labelsOf, newestFirst, stageOf } from '../capi/bindings.ts';
import { auditEvents, listAll } from '../capi/capi.ts';
import { parametersOf } from '../capi/parameters.ts';
import { Binding } from '../capi/schemas.ts';
import type { BindingParameters } from '../platform.ts';
import { failedError, hasCode, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { type AfterRestore, type PacedApi, requireMade, secretsIn, waitForJob } from './paced-api.ts';
import { removeBinding } from './unbind.ts';

/**
 * See `Platform.renewKey`. The old key of that name on the instance is deleted, then it is created anew. A
 * key of the instance that was lost is left alone.
 */
export async function renewKey(
  paced: PacedApi,
  key: ServiceKey,
  to: PlatformInstance,
  options: AfterRestore & { readonly parameters?: BindingParameters | undefined },
): Promise<PlatformProof> {
  const { api, pace } = paced;
  const { signal, mayLeave, runId, notBefore, tell } = options;
  const name = show(key.name, 100);
  const what = `renewing the service key ${name}`;
  const keys = async () => {
    const query = { type: 'key', service_instance_guids: to.guid, names: key.name };
    const found = await listAll(api, '/v3/service_credential_bindings', query, Binding, signal);
    return newestFirst(found.filter((one) => one.name === key.name));
  };
  const young = (one: Binding) => isAfterRestore(one, { runId, notBefore });
  const proven = async (
    outcome: 'done' | 'already',
    one: Binding,
    evidence: Record<string, string | undefined>,
  ) => {
    const events = await auditEvents(api, [one.guid], notBefore, signal);
    const text = `service key ${name} is renewed on ${show(to.name, 100)}`;
    return proof(outcome, text, one.created_at, { instance: to.guid, key: one.guid, ...evidence, ...events });
  };

  const isUsable = (one: Binding) => young(one) && ['there', 'creating'].includes(stageOf(one));
  const adopt = async (one: Binding) =>
    proven('already', await waitForKey(paced, one.guid, what, keys, signal), {});

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
      path: '/v3/service_credential_bindings',
      body,
      secrets,
      signal,
      mayLeave,
      made: ours,
    })
    .catch(async (thrown: unknown) => {
      // What an earlier attempt sent may arrive only now: then the name is taken.
      const [late] = hasCode(thrown, 'platform.refused') ? await keys() : [];
      if (late !== undefined && isUsable(late)) return { late };
      throw thrown;
    });
  if ('late' in sent) return adopt(sent.late);
  await requireMade(paced, what, sent, signal, ours);
  const job = sent.outcome === 'accepted' ? sent.job : undefined;
  await waitForJob(paced, job, { what, signal, secrets, tell, limitMs: pace.bindMs });
  const made = await waitFor({ signal, pace, what, limitMs: pace.startupMs }, ours);
  const renewed = await waitForKey(paced, made.guid, what, keys, signal);
  return proven('done', renewed, { deletion: removed?.job, job });
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
