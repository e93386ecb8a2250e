import { LifeboatError } from '../../base/errors.ts';
import type { BindingParameters } from '../platform.ts';
import { hasCode } from '../problem.ts';
import { pathToBinding } from './bindings.ts';
import { type Capi, getIfReported } from './capi.ts';
import { type Binding, Parameters, type ServiceInstance, ServiceOffering, ServicePlan } from './schemas.ts';

/** The parameters of bindings and keys by guid, and why some are unknown. */
export interface ReportedParameters {
  readonly byGuid: ReadonlyMap<string, BindingParameters>;
  readonly unreported?: string;
}

/**
 * The parameters of an instance's bindings and keys. Not all services report them, and a broker that is gone
 * cannot; that must not block anything else. Requested one after another, because platforms limit the
 * requests of a token, and no further after the broker did not answer. Rejects only with `platform.stopped`
 * and `credentials.*`.
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

/**
 * The parameters of one; undefined if there are none or they are not reported. Rejects as `readParameters`
 * does.
 */
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
