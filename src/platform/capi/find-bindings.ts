import * as z from 'zod';
import type { BoundApp } from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { FoundBinding, FoundBindings } from '../platform.ts';
import { badAnswer, failedError, hasCode } from '../problem.ts';
import {
  BINDINGS,
  isSince,
  newestFirst,
  parametersIn,
  RUN_LABEL,
  readParameters,
  stageOf,
} from './bindings.ts';
import { type Capi, getIfReported, listAll, NOT_TOLD, readPages } from './capi.ts';
import {
  App,
  Binding,
  Info,
  Organization,
  Package,
  ServiceInstance,
  Space,
  UsageSummary,
} from './schemas.ts';

export async function findBindings(
  capi: Capi,
  dashboardUrl: string,
  signal: AbortSignal,
): Promise<FoundBindings> {
  const instance = await findInstance(capi, dashboardUrl, signal);
  const { bindings, apps } = await readBindings(capi, instance.guid, signal);
  const usage = await usageOf(capi, instance.guid, signal);
  const spaceOfInstance = instance.relationships?.space?.data?.guid;
  const spaces = [...apps.values()].flatMap((app) => app.relationships?.space?.data?.guid ?? []);
  const places = await placesOf(
    capi,
    [
      ...spaces,
      ...usage.map(({ space }) => space),
      ...(spaceOfInstance === undefined ? [] : [spaceOfInstance]),
    ],
    signal,
  );
  const live = newestFirst(bindings).filter((binding) => stageOf(binding) !== 'create-failed');
  const bound = live.filter(({ type }) => type === 'app');
  const keys = live.filter(({ type, name }) => type === 'key' && name != null);
  const newest = newestOfEach(bound);
  const reported = await readParameters(capi, instance, [...newest, ...keys], signal);
  return {
    instance: { guid: instance.guid, name: instance.name, ...places.get(spaceOfInstance ?? '') },
    apps: newest.map((binding) => ({
      ...boundApp(binding, apps, places),
      ...parametersIn(reported, binding),
      bindings: bound.filter((one) => appGuidOf(one) === appGuidOf(binding)).map(foundBinding),
    })),
    keys: keys.map((key) => ({ name: key.name ?? '', guid: key.guid, ...parametersIn(reported, key) })),
    ...(reported.unreported === undefined ? {} : { parametersUnreported: reported.unreported }),
    unseen: unseenOf(usage, spaces, places),
    allowsTwoBindings: holdsTwo(bound) || (await limitOf(capi, signal)) >= 2,
  };
}

async function findInstance(capi: Capi, dashboardUrl: string, signal: AbortSignal): Promise<ServiceInstance> {
  const wanted = plainUrl(dashboardUrl);
  const all = await listAll(capi, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
  const [only, second] = all.filter(({ dashboard_url: url }) => url != null && plainUrl(url) === wanted);
  if (second !== undefined)
    throw badAnswer('two service instances of the platform have this dashboard address');
  if (only !== undefined) return only;
  throw new LifeboatError(
    'platform.not-found',
    `the platform shows no service instance with the dashboard address ${show(dashboardUrl, 120)}`,
    {
      hints: [
        'check that the token sees the space of the instance',
        'compare it with what `cf service NAME` prints',
      ],
    },
  );
}

/** Without a trailing slash; scheme and host in lower case. */
export function plainUrl(url: string): string {
  return (URL.canParse(url) ? new URL(url).href : url).replace(/\/+$/u, '');
}

const Page = z.object({
  resources: z.array(Binding),
  included: z.object({ apps: z.array(App).nullish() }).nullish(),
});

async function readBindings(capi: Capi, instanceGuid: string, signal: AbortSignal) {
  const query = { service_instance_guids: instanceGuid, include: 'app' };
  const pages = await readPages(capi, BINDINGS, query, Page, signal);
  const apps = pages.flatMap((page) => page.included?.apps ?? []);
  return {
    bindings: pages.flatMap((page) => page.resources),
    apps: new Map(apps.map((app) => [app.guid, app])),
  };
}

/** An application with two bindings is one application; it runs with the newest (RFC 0040). */
function newestOfEach(bindings: readonly Binding[]): Binding[] {
  const seen = new Set<string>();
  return bindings.filter((binding) => {
    const guid = appGuidOf(binding);
    if (guid === undefined || seen.has(guid)) return false;
    seen.add(guid);
    return true;
  });
}

function boundApp(
  binding: Binding,
  apps: ReadonlyMap<string, App>,
  places: ReadonlyMap<string, Place>,
): FoundBindings['apps'][number] {
  const guid = appGuidOf(binding) ?? '';
  const app = apps.get(guid);
  const name = app?.name ?? guid;
  return {
    key: name,
    name,
    ...places.get(app?.relationships?.space?.data?.guid ?? ''),
    guid,
    ...(app?.state == null ? {} : { running: app.state === 'STARTED' }),
    binding: {
      guid: binding.guid,
      ...(binding.name == null ? {} : { name: binding.name }),
      ...(binding.created_at == null ? {} : { createdAt: binding.created_at }),
    },
    from: 'platform',
  };
}

function foundBinding({ guid, created_at: at, metadata }: Binding): FoundBinding {
  const run = metadata?.labels?.[RUN_LABEL];
  return { guid, ...(at == null ? {} : { createdAt: at }), ...(run == null ? {} : { run }) };
}

async function usageOf(capi: Capi, instanceGuid: string, signal: AbortSignal) {
  const path = `/v3/service_instances/${encodeURIComponent(instanceGuid)}/relationships/shared_spaces/usage_summary`;
  const reported = await getIfReported(capi, path, UsageSummary, signal);
  return (reported?.usage_summary ?? []).map(({ space, bound_app_count: apps }) => ({
    space: space.guid,
    apps,
  }));
}

/** The instance's usage in the spaces that it is shared into, minus what this token sees there. */
function unseenOf(
  usage: readonly { readonly space: string; readonly apps: number }[],
  seenSpaces: readonly string[],
  places: ReadonlyMap<string, Place>,
): FoundBindings['unseen'] {
  return usage.flatMap(({ space, apps }) => {
    const missing = apps - seenSpaces.filter((seen) => seen === space).length;
    return missing > 0 ? [{ space: places.get(space)?.space ?? space, apps: missing }] : [];
  });
}

/** An application that has two bindings now proves that it may. */
function holdsTwo(bindings: readonly Binding[]): boolean {
  const there = bindings.filter(
    (binding) => stageOf(binding) === 'there' && isSince(binding, '1970-01-01T00:00:00Z'),
  );
  return newestOfEach(there).length < there.length;
}

async function limitOf(capi: Capi, signal: AbortSignal): Promise<number> {
  const info = await getIfReported(capi, '/v3/info', Info, signal);
  const name = 'max_service_credential_bindings_per_app_service_instance';
  return info?.[name] ?? info?.custom?.[name] ?? 1;
}

function appGuidOf({ relationships }: Binding): string | undefined {
  return relationships?.app?.data?.guid;
}

/** A space and its organization by name. Missing: this token may not see it. */
export interface Place {
  readonly space?: string;
  readonly org?: string;
}

/** A list of guids in an address stays far below the limits of routers. */
const AT_ONCE = 50;

/** The names of the spaces with these guids. A space that the token may not see is omitted. */
export async function placesOf(
  capi: Capi,
  spaceGuids: Iterable<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Place>> {
  const spaces = await byGuids(capi, '/v3/spaces', spaceGuids, Space, signal);
  const orgGuids = spaces.flatMap((space) => space.relationships?.organization?.data?.guid ?? []);
  const orgs = await byGuids(capi, '/v3/organizations', orgGuids, Organization, signal);
  const orgNames = new Map(orgs.map(({ guid, name }) => [guid, name]));
  return new Map(
    spaces.map((space) => {
      const org = orgNames.get(space.relationships?.organization?.data?.guid ?? '');
      return [space.guid, { space: space.name, ...(org === undefined ? {} : { org }) }];
    }),
  );
}

async function byGuids<T>(
  capi: Capi,
  path: string,
  guids: Iterable<string>,
  schema: Parameters<typeof listAll<T>>[3],
  signal: AbortSignal,
): Promise<T[]> {
  const wanted = [...new Set(guids)];
  const found: T[] = [];
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    const query = { guids: wanted.slice(from, from + AT_ONCE).join(',') };
    try {
      found.push(...(await listAll(capi, path, query, schema, signal)));
    } catch (thrown) {
      // Names are for people; everything else uses guids and works without them.
      if (!hasCode(thrown, ...NOT_TOLD)) throw thrown;
    }
  }
  return found;
}

/**
 * The application as it is now: by guid, else by name, and by space and org as far as known. Rejects with
 * `platform.not-found` if there is none, or several match.
 */
export async function findApp(capi: Capi, app: BoundApp, signal: AbortSignal): Promise<App> {
  if (app.guid !== undefined) {
    return (await capi.get(`/v3/apps/${encodeURIComponent(app.guid)}`, App, signal)).value;
  }
  // A comma would separate two names.
  const named = (await listAll(capi, '/v3/apps', { names: app.name }, App, signal)).filter(
    ({ name }) => name === app.name,
  );
  const guids = named.flatMap((found) => found.relationships?.space?.data?.guid ?? []);
  const places = await placesOf(capi, guids, signal);
  const fitting = named.filter((found) => {
    const place = places.get(found.relationships?.space?.data?.guid ?? '');
    return (
      (app.space === undefined || place?.space === app.space) &&
      (app.org === undefined || place?.org === app.org)
    );
  });
  const [only, second] = fitting;
  if (only !== undefined && second === undefined) return only;
  const where = [app.org, app.space].filter((part) => part !== undefined).join('/');
  const place = where === '' ? '' : ` in ${show(where, 120)}`;
  throw new LifeboatError(
    'platform.not-found',
    only === undefined
      ? `the platform shows no application ${show(app.name, 100)}${place}`
      : `the platform shows ${fitting.length} applications ${show(app.name, 100)}${place}`,
    { hints: ['name its space and org in `apps` of the config', 'check that the token sees its space'] },
  );
}

/** The newest package of an application that can be staged; undefined if all have expired. */
export async function packageOf(
  capi: Capi,
  appGuid: string,
  signal: AbortSignal,
): Promise<Package | undefined> {
  const query = { app_guids: appGuid, states: 'READY', order_by: '-created_at' };
  const packages = await listAll(capi, '/v3/packages', query, Package, signal);
  return newestFirst(packages.filter(({ state }) => state === 'READY'))[0];
}

/**
 * Rejects with `platform.failed` if a running application could not be staged again. Called before its
 * binding is removed, since without both it would be down.
 */
export async function requirePackage(capi: Capi, bound: BoundApp, signal: AbortSignal): Promise<void> {
  const app = await findApp(capi, bound, signal);
  if (app.state === 'STOPPED' || app.lifecycle?.type === 'docker') return;
  if ((await packageOf(capi, app.guid, signal)) !== undefined) return;
  throw noPackage(app, show(bound.name, 100), [
    'nothing was unbound: it runs on with the credentials that it has',
  ]);
}

export function noPackage({ guid }: Pick<App, 'guid'>, name: string, hints: readonly string[] = []) {
  const what = `there is no package to stage for ${name}: it has expired, or was never uploaded`;
  return failedError(what, '', { app: guid }, [...hints, `push it again, then go on: cf push ${name}`]);
}
