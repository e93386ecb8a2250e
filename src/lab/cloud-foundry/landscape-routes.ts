import { auditEvents } from './audit-events.ts';
import { notFound } from './cf-error.ts';
import type { Job } from './jobs.ts';
import { stamp } from './metadata.ts';
import { oneOf, paged, queryOf } from './page.ts';
import { ORG, SPACE, UNSEEN_SPACE } from './places.ts';
import type { Platform } from './platform.ts';
import { presentInstance } from './present-binding.ts';
import type { CfRequest, CfRoute } from './route.ts';

/**
 * Where everything is: the root, org, space, service instances; and what became of things: jobs and audit
 * events.
 */
export const landscapeRoutes: readonly CfRoute[] = [
  { method: 'GET', path: '/', answer: ({ origin }) => ({ json: root(origin) }) },
  {
    method: 'GET',
    path: '/v3',
    answer: ({ origin }) => ({ json: { links: { self: { href: `${origin}/v3` } } } }),
  },
  { method: 'GET', path: '/v3/info', answer: ({ origin }) => ({ json: info(origin) }) },
  {
    method: 'GET',
    path: '/v3/organizations',
    answer: ({ context, origin, platform }) => {
      const { names, guids } = queryOf(context, ['names', 'guids']);
      const rows = [ORG].filter(({ name, guid }) => oneOf(names, name) && oneOf(guids, guid));
      return { json: list(paged(context, origin, rows, () => org(origin, platform))) };
    },
  },
  { method: 'GET', path: '/v3/organizations/:guid', answer: (request) => ({ json: oneOrg(request) }) },
  {
    method: 'GET',
    path: '/v3/spaces',
    answer: ({ context, origin, platform }) => {
      const { names, guids, organization_guids } = queryOf(context, [
        'names',
        'guids',
        'organization_guids',
        'include',
      ]);
      const rows = [SPACE].filter(
        ({ name, guid }) => oneOf(names, name) && oneOf(guids, guid) && oneOf(organization_guids, ORG.guid),
      );
      const page = list(paged(context, origin, rows, () => space(origin, platform)));
      const isIncluded = context.req.query('include') === 'organization';
      return {
        json: isIncluded ? { ...page, included: { organizations: [org(origin, platform)] } } : page,
      };
    },
  },
  { method: 'GET', path: '/v3/spaces/:guid', answer: (request) => ({ json: oneSpace(request) }) },
  {
    method: 'GET',
    path: '/v3/service_instances',
    answer: ({ context, origin, platform }) => {
      const { names, guids, space_guids, organization_guids, type } = queryOf(context, [
        'names',
        'guids',
        'space_guids',
        'organization_guids',
        'type',
        'service_plan_guids',
      ]);
      const rows = platform.instances.filter(
        ({ name, guid }) =>
          oneOf(names, name) &&
          oneOf(guids, guid) &&
          oneOf(space_guids, SPACE.guid) &&
          oneOf(organization_guids, ORG.guid) &&
          oneOf(type, 'managed'),
      );
      return { json: list(paged(context, origin, rows, (instance) => presentInstance(instance, origin))) };
    },
  },
  {
    method: 'GET',
    path: '/v3/service_instances/:guid',
    answer: (request) => ({ json: presentInstance(instanceOf(request), request.origin) }),
  },
  {
    method: 'GET',
    path: '/v3/service_instances/:guid/relationships/shared_spaces/usage_summary',
    answer: (request) => ({ json: usageSummary(request) }),
  },
  {
    method: 'GET',
    path: '/v3/jobs/:guid',
    answer: ({ platform, origin, param }) => {
      const job = platform.jobs.find(param('guid'));
      if (job === undefined) throw notFound('Job');
      return { json: presentJob(job, origin) };
    },
  },
  {
    method: 'GET',
    path: '/v3/audit_events',
    answer: (request) => ({ json: auditEvents(request) }),
  },
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

function oneOrg({ param, origin, platform }: CfRequest): object {
  if (param('guid') !== ORG.guid) throw notFound('Organization');
  return org(origin, platform);
}

function org(origin: string, { createdAt }: Platform): object {
  const at = stamp(createdAt);
  return {
    ...ORG,
    created_at: at,
    updated_at: at,
    suspended: false,
    metadata: { labels: {}, annotations: {} },
    links: { self: { href: `${origin}/v3/organizations/${ORG.guid}` } },
  };
}

function oneSpace({ param, origin, platform }: CfRequest): object {
  if (param('guid') !== SPACE.guid) throw notFound('Space');
  return space(origin, platform);
}

function space(origin: string, { createdAt }: Platform): object {
  const at = stamp(createdAt);
  return {
    ...SPACE,
    created_at: at,
    updated_at: at,
    relationships: { organization: { data: { guid: ORG.guid } }, quota: { data: null } },
    metadata: { labels: {}, annotations: {} },
    links: {
      self: { href: `${origin}/v3/spaces/${SPACE.guid}` },
      organization: { href: `${origin}/v3/organizations/${ORG.guid}` },
    },
  };
}

/**
 * How many applications are bound in the spaces that an instance is shared with, also in those that a token
 * does not see.
 */
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

function instanceOf({ platform, param }: CfRequest) {
  const instance = platform.instance(param('guid'));
  if (instance === undefined) throw notFound('Service instance');
  return instance;
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

function list({
  pagination,
  resources,
}: {
  readonly pagination: object;
  readonly resources: readonly object[];
}) {
  return { pagination, resources };
}
