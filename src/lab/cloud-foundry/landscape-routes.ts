import type { LabInstance } from '../instance.ts';
import { ORG, SPACE, UNSEEN_SPACE } from '../landscape.ts';
import { auditEvents } from './audit-log.ts';
import { notFound } from './cf-error.ts';
import type { Job } from './jobs.ts';
import { NO_METADATA, stamp } from './metadata.ts';
import { presentInstance } from './present.ts';
import { type CfRequest, type CfRoute, get, named, oneOf, paged, queryOf } from './route.ts';

export const landscapeRoutes: readonly CfRoute[] = [
  get('/', ({ origin }) => root(origin)),
  get('/v3', ({ origin }) => ({ links: { self: { href: `${origin}/v3` } } })),
  get('/v3/info', ({ origin }) => info(origin)),
  get('/v3/organizations', (request) => {
    const { names, guids } = queryOf(request.context, ['names', 'guids']);
    const rows = [ORG].filter(({ name, guid }) => oneOf(names, name) && oneOf(guids, guid));
    return paged(request, rows, () => org(request));
  }),
  get('/v3/organizations/:guid', (request) => {
    named([ORG], request, 'Organization');
    return org(request);
  }),
  get('/v3/spaces', (request) => {
    const filters = ['names', 'guids', 'organization_guids', 'include'];
    const { names, guids, organization_guids, include } = queryOf(request.context, filters);
    const rows = [SPACE].filter(
      ({ name, guid }) => oneOf(names, name) && oneOf(guids, guid) && oneOf(organization_guids, ORG.guid),
    );
    const page = paged(request, rows, () => space(request));
    return include === 'organization' ? { ...page, included: { organizations: [org(request)] } } : page;
  }),
  get('/v3/spaces/:guid', (request) => {
    named([SPACE], request, 'Space');
    return space(request);
  }),
  get('/v3/service_instances', (request) => {
    const filters = ['names', 'guids', 'space_guids', 'organization_guids', 'type', 'service_plan_guids'];
    const { names, guids, space_guids, organization_guids, type } = queryOf(request.context, filters);
    const rows = request.platform.instances.filter(
      ({ name, guid }) =>
        oneOf(names, name) &&
        oneOf(guids, guid) &&
        oneOf(space_guids, SPACE.guid) &&
        oneOf(organization_guids, ORG.guid) &&
        oneOf(type, 'managed'),
    );
    return paged(request, rows, presentInstance);
  }),
  get('/v3/service_instances/:guid', (request) => presentInstance(instanceOf(request), request.origin)),
  get('/v3/service_instances/:guid/relationships/shared_spaces/usage_summary', usageSummary),
  get('/v3/jobs/:guid', ({ platform, origin, param }) => {
    const job = platform.jobs.find(param('guid'));
    if (job === undefined) throw notFound('Job');
    return presentJob(job, origin);
  }),
  get('/v3/audit_events', auditEvents),
];

function root(origin: string): object {
  return {
    links: {
      self: { href: origin },
      bits_service: null,
      cloud_controller_v2: null,
      cloud_controller_v3: { href: `${origin}/v3`, meta: { version: '3.205.0' } },
      login: null,
      uaa: null,
    },
  };
}

function info(origin: string): object {
  return {
    build: 'lab',
    cli_version: { minimum: '', recommended: '' },
    custom: {},
    description: 'A lab on this machine',
    name: 'lifeboat lab',
    version: 0,
    osbapi_version: '2.15',
    rate_limits: { enabled: false },
    links: { self: { href: `${origin}/v3/info` }, support: { href: '' } },
  };
}

function org({ origin, platform }: CfRequest): object {
  const at = stamp(platform.createdAt);
  return {
    ...ORG,
    created_at: at,
    updated_at: at,
    suspended: false,
    metadata: NO_METADATA,
    links: { self: { href: `${origin}/v3/organizations/${ORG.guid}` } },
  };
}

function space({ origin, platform }: CfRequest): object {
  const at = stamp(platform.createdAt);
  return {
    ...SPACE,
    created_at: at,
    updated_at: at,
    relationships: { organization: { data: { guid: ORG.guid } }, quota: { data: null } },
    metadata: NO_METADATA,
    links: {
      self: { href: `${origin}/v3/spaces/${SPACE.guid}` },
      organization: { href: `${origin}/v3/organizations/${ORG.guid}` },
    },
  };
}

/** How many applications are bound in the spaces an instance is shared with, visible or not. */
function usageSummary(request: CfRequest): object {
  const instance = instanceOf(request);
  const unseen = request.platform.unseenAppsOf(instance);
  const self = `${request.origin}/v3/service_instances/${instance.guid}`;
  return {
    usage_summary: unseen === 0 ? [] : [{ space: { guid: UNSEEN_SPACE }, bound_app_count: unseen }],
    links: {
      self: { href: `${self}/relationships/shared_spaces/usage_summary` },
      shared_spaces: { href: `${self}/relationships/shared_spaces` },
      service_instance: { href: self },
    },
  };
}

function instanceOf(request: CfRequest): LabInstance {
  return named(request.platform.instances, request, 'Service instance');
}

function presentJob(
  { guid, operation, state, errors, resource, createdAt, updatedAt }: Job,
  origin: string,
): object {
  return {
    guid,
    created_at: stamp(createdAt),
    updated_at: stamp(updatedAt),
    operation,
    state,
    errors: errors.map((error) => error.toBody()),
    warnings: [],
    links: {
      self: { href: `${origin}/v3/jobs/${guid}` },
      [resource.type]: { href: `${origin}/v3/${resource.type}s/${resource.guid}` },
    },
  };
}
