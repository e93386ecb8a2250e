import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  ServiceKey,
} from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import {
  BINDINGS,
  type BindingStage,
  bindingFailed,
  bindingsBetween,
  isAfterRestore,
  isOf,
  keysNamed,
  labelsOf,
  parametersOf,
  pathToBinding,
  stageOf,
} from '../capi/bindings.ts';
import { auditEvents, getIfThere } from '../capi/capi.ts';
import { findApp, requirePackage } from '../capi/find-bindings.ts';
import { bound, noBinding, renewed, stillBound, unboundBefore } from '../capi/prove.ts';
import { Binding } from '../capi/schemas.ts';
import type { BindOptions, KeyOptions, RebindOptions } from '../platform.ts';
import { failedError, hasCode, ownBinding, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { type PacedApi, requireMade, secretsIn, waitForJob } from './connection.ts';

/**
 * See `Platform.bind`. A binding of this run, or one that someone else made after the restore, is waited for
 * and adopted; an older one blocks (`platform.bound`), unless the new one may exist beside it. If the broker
 * takes too long, rejects with `platform.failed`; the next attempt finds the binding again.
 */
export async function bind(
  paced: PacedApi,
  app: BoundApp,
  to: PlatformInstance,
  options: BindOptions,
): Promise<PlatformProof> {
  const { api } = paced;
  const { signal, runId } = options;
  const what = `binding ${show(app.name, 100)} to ${show(to.name, 100)}`;
  const appGuid = (await findApp(api, app, signal)).guid;
  const look = () => lookAt(paced, appGuid, to.guid, options, what);

  const before = await look();
  const made = before ?? (await create(paced, app, appGuid, to, options, what, look));
  if (made.old !== undefined) throw stillBound(app, to, STILL_BOUND);
  const { binding, job } = made;
  const words = isOf(runId, binding) ? '' : ', by somebody else';
  const outcome = before === undefined ? 'done' : 'already';
  return bound(api, outcome, { app, guid: appGuid, to, binding }, options, { words, ids: { job } });
}

interface Seen {
  readonly binding: Binding;
  readonly job?: string | undefined;
  /** Set if it is older than the restore. */
  readonly old?: true;
}

/** Looks until no operation is under way between the two. Undefined: a new binding can be made. */
async function lookAt(
  { api, pace }: PacedApi,
  appGuid: string,
  instanceGuid: string,
  { signal, runId, notBefore, beside, tell }: BindOptions,
  what: string,
): Promise<Seen | undefined> {
  const seen = await waitFor({ signal, pace, what, limitMs: pace.bindMs }, async () => {
    const all = await bindingsBetween(api, appGuid, instanceGuid, signal);
    const restored = { runId, notBefore };
    const fitting = all.find((one) => isAfterRestore(one, restored) && stageOf(one) === 'there');
    if (fitting !== undefined) return { binding: fitting };
    // A failed one does not count: the platform replaces it with the next.
    const others = all.filter((binding) => stageOf(binding) !== 'create-failed');
    const busy = others.some((binding) => ['creating', 'deleting'].includes(stageOf(binding)));
    if (busy) {
      tell?.(`${what}: an operation is under way`);
      return undefined;
    }
    const [old] = others;
    return old === undefined || beside ? 'free' : { binding: old, old: true as const };
  });
  return seen === 'free' ? undefined : seen;
}

async function create(
  paced: PacedApi,
  app: BoundApp,
  appGuid: string,
  to: PlatformInstance,
  options: BindOptions,
  what: string,
  look: () => Promise<Seen | undefined>,
): Promise<Seen> {
  const { api, pace } = paced;
  const { signal, mayLeave, runId, parameters, beside, tell } = options;
  const secrets = secretsIn(parameters);
  tell?.(what);
  const ours = async () =>
    (await bindingsBetween(api, appGuid, to.guid, signal)).find((one) => isOf(runId, one));
  const sent = await api
    .send({
      method: 'POST',
      path: BINDINGS,
      body: {
        type: 'app',
        ...(app.binding?.name === undefined ? {} : { name: app.binding.name }),
        ...(beside ? { strategy: 'multiple' } : {}),
        relationships: { app: { data: { guid: appGuid } }, service_instance: { data: { guid: to.guid } } },
        ...(parameters === undefined ? {} : { parameters }),
        metadata: labelsOf(runId),
      },
      secrets,
      signal,
      mayLeave,
      made: ours,
    })
    .catch(async (thrown: unknown) => afterRefusal(thrown, app, to, look));
  if ('binding' in sent) return sent;
  await requireMade(paced, what, sent, signal, ours);
  const job = sent.outcome === 'accepted' ? sent.job : undefined;
  await waitForJob(paced, job, { what, signal, secrets, tell, limitMs: pace.bindMs });
  const binding = await waitFor({ signal, pace, what, limitMs: pace.startupMs }, async () => {
    const found = await ours();
    if (found === undefined || stageOf(found) === 'there') return found;
    if (stageOf(found) !== 'create-failed') return undefined;
    throw bindingFailed(what, found);
  });
  return { binding, job };
}

/** Distinguishes the sentences of Cloud Foundry (domain 2.3), which all have the same code. */
async function afterRefusal(
  thrown: unknown,
  app: BoundApp,
  to: PlatformInstance,
  look: () => Promise<Seen | undefined>,
): Promise<Seen> {
  if (!hasCode(thrown, 'platform.refused')) throw thrown;
  const words = String(thrown.evidence['words'] ?? '');
  if (/already bound|binding in progress/iu.test(words)) {
    const seen = await look();
    if (seen !== undefined) return seen;
    throw stillBound(app, to, STILL_BOUND, words);
  }
  if (/too many bindings|unknown field.*strategy/iu.test(words))
    throw stillBound(app, to, STILL_BOUND, words);
  if (/getting deleted|deletion failed/iu.test(words)) {
    throw new LifeboatError(
      'platform.busy',
      `the old binding of ${show(app.name, 100)} is not gone yet: "${words}"`,
      { hints: ['unbind it again, then bind it'], evidence: { words } },
    );
  }
  if (/binding names? must be unique|app_guid and name unique/iu.test(words)) {
    throw new LifeboatError(
      'platform.refused',
      `${show(app.name, 100)} has its binding name taken: "${words}"`,
      {
        hints: [
          'the old binding holds the name: ask the operator of the platform to remove it, then try again',
          'or bind it by hand without the name, if the application does not depend on it',
        ],
        evidence: { words },
      },
    );
  }
  throw thrown;
}

const STILL_BOUND = [
  'unbind it first: binding a bound application gives it no new credentials',
  'if somebody has bound it again since: check again which applications are bound, then go on',
];

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

/** Rejects for the new binding: without it the application would have no credentials. */
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
 * broker's words, or after the limit, since a broker that is gone never finishes.
 */
async function removeBinding(
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

/** See `Platform.renewKey`. Deletes and creates a key on `to`; leaves that of the lost instance alone. */
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
