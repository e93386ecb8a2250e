import type { PlatformInstance } from '../../machines/parts/recovery-data.ts';
import { listAll } from './capi/capi.ts';
import { placesOf } from './capi/find-bindings.ts';
import { ServiceInstance } from './capi/schemas.ts';
import type { CfLoginOptions } from './cf-login.ts';
import { openByCf } from './open.ts';

/** A service instance with the address of its dashboard, as printed by `cf service NAME`. */
export interface ListedInstance extends PlatformInstance {
  readonly dashboardUrl: string;
}

/**
 * The service instances with a dashboard that the login of the tool `cf` may see, in every space, by name; or
 * why there is no login, for people. Only reads. Rejects as documented at `Platform`.
 */
export async function instancesOfCf(
  options: CfLoginOptions,
): Promise<
  { readonly description: string; readonly instances: readonly ListedInstance[] } | { readonly none: string }
> {
  const opened = await openByCf(options);
  if ('none' in opened) return opened;
  const { api, description } = opened;
  const { signal } = options;
  try {
    const all = await listAll(api, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
    const spaceOf = (one: ServiceInstance) => one.relationships?.space?.data?.guid ?? '';
    const places = await placesOf(api, all.map(spaceOf).filter(Boolean), signal);
    const instances = all.flatMap((one) =>
      one.dashboard_url == null
        ? []
        : [
            {
              guid: one.guid,
              name: one.name,
              ...places.get(spaceOf(one)),
              dashboardUrl: one.dashboard_url.slice(0, 2_000),
            },
          ],
    );
    return { description, instances: instances.toSorted((one, other) => one.name.localeCompare(other.name)) };
  } finally {
    await api.close();
  }
}
