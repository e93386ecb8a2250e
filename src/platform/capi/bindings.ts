import { LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { BindingParameters, ProveOptions } from '../platform.ts';
import { failedError, hasCode } from '../problem.ts';
import { type Capi, getIfReported, listAll } from './capi.ts';
import { Binding, Parameters, type ServiceInstance, ServiceOffering, ServicePlan } from './schemas.ts';

/** Labels what a run made, to find it after the process died (domain 2.4). */
export const RUN_LABEL = 'lifeboat.run';

export function labelsOf(runId: string) {
  return { labels: { [RUN_LABEL]: runId } };
}

export type BindingStage = 'creating' | 'there' | 'create-failed' | 'deleting' | 'delete-failed';

export function stageOf({ last_operation: last }: Binding): BindingStage {
  // Synchronous ones, and those from before operations were recorded, have none.
  if (last == null) return 'there';
  const [doing, failed] =
    last.type === 'delete'
      ? (['deleting', 'delete-failed'] as const)
      : (['creating', 'create-failed'] as const);
  if (last.state === 'succeeded') return 'there';
  if (last.state === 'failed') return last.type === 'update' ? 'there' : failed;
  return last.type === 'update' ? 'there' : doing;
}

/** A failed operation of the platform on a binding, in the broker's words. `what` names it. */
export function bindingFailed(what: string, { guid, last_operation: last }: Binding): LifeboatError {
  return failedError(`${what} has failed`, show(last?.description ?? ''), { binding: guid });
}

/** Bindings and service keys. */
export const BINDINGS = '/v3/service_credential_bindings';

export function pathToBinding(guid: string): string {
  return `${BINDINGS}/${encodeURIComponent(guid)}`;
}

/** All bindings of an application to an instance, newest first. */
export async function bindingsBetween(
  capi: Capi,
  appGuid: string,
  instanceGuid: string,
  signal: AbortSignal,
): Promise<Binding[]> {
  const query = { type: 'app', app_guids: appGuid, service_instance_guids: instanceGuid };
  return newestFirst(await listAll(capi, BINDINGS, query, Binding, signal));
}

/** All service keys of that name on an instance, newest first. */
export async function keysNamed(
  capi: Capi,
  name: string,
  instanceGuid: string,
  signal: AbortSignal,
): Promise<Binding[]> {
  const query = { type: 'key', service_instance_guids: instanceGuid, names: name };
  const found = await listAll(capi, BINDINGS, query, Binding, signal);
  return newestFirst(found.filter((one) => one.name === name));
}

/** Newest first, by the platform's own times in whole seconds. */
export function newestFirst<T extends { readonly created_at?: string | null | undefined }>(
  things: readonly T[],
): T[] {
  return things.toSorted((a, b) => madeAt(b) - madeAt(a));
}

/** Whether the thing was made for this run. */
export function isOf(
  runId: string,
  { metadata }: { readonly metadata?: Binding['metadata'] | undefined },
): boolean {
  return metadata?.labels?.[RUN_LABEL] === runId;
}

/**
 * Whether the thing was made at `time` (RFC 3339) or later. The platform's times are in whole seconds, so the
 * same second suffices. An unreadable time is never reached.
 */
export function isSince(
  { created_at: created }: { readonly created_at?: string | null | undefined },
  time: string,
): boolean {
  return msOf(created) >= Math.floor(msOf(time) / 1000) * 1000;
}

/**
 * A run binds only what it restored, so its own counts. Any other's time is compared with the end of the
 * restore, which comes from another clock, the service's.
 */
export function isAfterRestore(
  one: Pick<Binding, 'metadata' | 'created_at'>,
  { runId, notBefore }: Omit<ProveOptions, 'signal'>,
): boolean {
  return isOf(runId, one) || isSince(one, notBefore);
}

/**
 * Since when staging and starting use the new credentials, by the platform's clock: the creation of this
 * run's newest binding, else of the newest since the restore, else the end of the restore.
 */
export async function boundSince(
  capi: Capi,
  appGuid: string,
  { runId, notBefore, signal }: ProveOptions,
): Promise<string> {
  const query = { type: 'app', app_guids: appGuid };
  const all = newestFirst(await listAll(capi, BINDINGS, query, Binding, signal));
  const ours =
    all.find((binding) => isOf(runId, binding)) ?? all.find((binding) => isSince(binding, notBefore));
  return ours?.created_at ?? notBefore;
}

function madeAt({ created_at: created }: { readonly created_at?: string | null | undefined }): number {
  const ms = msOf(created);
  return Number.isNaN(ms) ? 0 : ms;
}

interface ReportedParameters {
  readonly byGuid: ReadonlyMap<string, BindingParameters>;
  readonly unreported?: string;
}

/**
 * Reads parameters one after another, since platforms limit the requests of a token, and none after a broker
 * does not answer. Not all services report them, which must block nothing else. Rejects only with
 * `platform.stopped` and `credentials.*`.
 */
export async function readParameters(
  capi: Capi,
  instance: ServiceInstance,
  bindings: readonly Binding[],
  signal: AbortSignal,
): Promise<ReportedParameters> {
  const byGuid = new Map<string, BindingParameters>();
  if ((await areRetrievable(capi, instance, signal)) === false) {
    return { byGuid, unreported: 'the service does not return them' };
  }
  let unreported: string | undefined;
  for (const { guid } of bindings) {
    try {
      const { value } = await capi.get(pathTo(guid), Parameters, signal);
      if (Object.keys(value).length > 0) byGuid.set(guid, value);
    } catch (thrown) {
      if (!isUnreported(thrown)) throw thrown;
      unreported ??= thrown.shortMessage;
      if (hasCode(thrown, 'platform.unreachable')) break;
    }
  }
  return { byGuid, ...(unreported === undefined ? {} : { unreported }) };
}

/** Undefined if there are none or they are not reported. Rejects as `readParameters` does. */
export async function parametersOf(
  capi: Capi,
  guid: string,
  signal: AbortSignal,
): Promise<BindingParameters | undefined> {
  try {
    const { value } = await capi.get(pathTo(guid), Parameters, signal);
    return Object.keys(value).length === 0 ? undefined : value;
  } catch (thrown) {
    if (isUnreported(thrown)) return undefined;
    throw thrown;
  }
}

export function parametersIn(
  { byGuid }: ReportedParameters,
  { guid }: Binding,
): { readonly parameters?: BindingParameters } {
  const parameters = byGuid.get(guid);
  return parameters === undefined ? {} : { parameters };
}

/** The statement of the broker's catalog; undefined if the platform does not show it. */
async function areRetrievable(
  capi: Capi,
  { relationships }: ServiceInstance,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const plan = relationships?.service_plan?.data?.guid;
  if (plan === undefined) return undefined;
  const planPath = `/v3/service_plans/${encodeURIComponent(plan)}`;
  const offering = (await getIfReported(capi, planPath, ServicePlan, signal))?.relationships?.service_offering
    ?.data?.guid;
  if (offering === undefined) return undefined;
  const path = `/v3/service_offerings/${encodeURIComponent(offering)}`;
  const reported = await getIfReported(capi, path, ServiceOffering, signal);
  return reported?.broker_catalog?.features?.bindings_retrievable ?? undefined;
}

/** A platform answers 502 if the service does not support it, and if the broker is gone. */
function isUnreported(thrown: unknown): thrown is LifeboatError {
  return (
    thrown instanceof LifeboatError &&
    thrown.code !== 'platform.stopped' &&
    !thrown.code.startsWith('credentials.')
  );
}

function pathTo(guid: string): string {
  return `${pathToBinding(guid)}/parameters`;
}
