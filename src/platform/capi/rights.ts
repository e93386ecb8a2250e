import * as z from 'zod';
import type { PlatformRight } from '../../../machines/parts/recovery-data.ts';
import { type Capi, getIfReported, listAll } from './capi.ts';
import { plainUrl } from './find-bindings.ts';
import { ServiceInstance } from './schemas.ts';

/** `GET /v3/service_instances/:guid/permissions` (Cloud Foundry v3 API); every role may ask. */
const Permissions = z.object({ manage: z.boolean() });

/**
 * What this token may do with a service instance, by the address of its dashboard. The instances are listed
 * once, for all that is asked of one reader. See `Platform.right`.
 */
export function rightReader(
  capi: Capi,
): (dashboardUrl: string, signal: AbortSignal) => Promise<PlatformRight> {
  let listing: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  return async (dashboardUrl, signal) => {
    listing ??= guidsByAddress(capi, signal);
    const guids = (await listing).get(plainUrl(dashboardUrl)) ?? [];
    const [guid] = guids;
    if (guid === undefined || guids.length > 1) return 'unseen';
    const path = `/v3/service_instances/${encodeURIComponent(guid)}/permissions`;
    const reported = await getIfReported(capi, path, Permissions, signal);
    if (reported === undefined) return 'unsaid';
    return reported.manage ? 'manage' : 'read';
  };
}

async function guidsByAddress(capi: Capi, signal: AbortSignal): Promise<ReadonlyMap<string, string[]>> {
  const all = await listAll(capi, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
  const guids = new Map<string, string[]>();
  for (const { guid, dashboard_url: url } of all) {
    if (url == null) continue;
    const known = guids.get(plainUrl(url));
    if (known === undefined) guids.set(plainUrl(url), [guid]);
    else known.push(guid);
  }
  return guids;
}
