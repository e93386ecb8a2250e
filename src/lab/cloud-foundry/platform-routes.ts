import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import * as z from 'zod';
import { Refusal } from '../http/endpoint.ts';
import { type LabContext, readJson } from '../http/request.ts';
import type { Right, Tokens } from '../http/tokens.ts';
import type { LabInstance } from '../instance.ts';
import { ORG, SPACE, UNSEEN_SPACE } from '../landscape.ts';
import { appRoutes, stagingRoutes } from './app-routes.ts';
import { auditEvents } from './audit-log.ts';
import { CfError, notFound, parsedBody, unprocessable } from './cf-error.ts';
import type { CredentialBinding } from './credential-bindings.ts';
import type { AppState } from './lab-app.ts';
import { Metadata, NO_METADATA, stamp } from './metadata.ts';
import type { Job, Platform } from './platform.ts';
import { presentApp, presentBinding, presentInstance } from './present.ts';
import {
  type CfReply,
  type CfRequest,
  type CfRoute,
  get,
  named,
  oneOf,
  paged,
  queryOf,
  selected,
} from './route.ts';

export interface PlatformFace {
  readonly routes: Hono<{ Bindings: HttpBindings }>;
  appStates(): readonly AppState[];
}

interface Surroundings {
  readonly platform: Platform;
  readonly tokens: Tokens;
  readonly origin: string;
  readonly log: (line: string) => void;
}

/**
 * The part of Cloud Foundry's v3 API that rebinding needs, with its shapes, texts and pitfalls
 * (cloud_controller_ng, `docs/v3`). Tokens are the lab's: the read-only one sees no credentials. Without a
 * token nothing answers; the real platform would describe itself.
 */
export function platformFace(surroundings: Surroundings): PlatformFace {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const route of [...landscapeRoutes, ...bindingRoutes, ...appRoutes, ...stagingRoutes]) {
    app.on(route.method, route.path, (context) => answered(context, surroundings, route));
  }
  for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
    app.on(method, '/v3/*', (context) =>
      answered(context, surroundings, { method, path: '/v3/*', answer: unknown }),
    );
  }
  return { routes: app, appStates: () => surroundings.platform.appStates() };
}

function unknown(): never {
  throw new CfError(404, 10_000, 'NotFound', 'Unknown request');
}

async function answered(context: LabContext, surroundings: Surroundings, route: CfRoute): Promise<Response> {
  const { platform, tokens, origin, log } = surroundings;
  try {
    const { right = route.method === 'GET' ? 'read' : 'write' } = route;
    const holds = authorised(tokens, context.req.header('authorization'), right);
    const body = route.method === 'GET' ? undefined : await readJson(context.env.incoming);
    const param = (name: string) => context.req.param(name) ?? '';
    return replied(context, await route.answer({ platform, origin, context, holds, body, param }));
  } catch (error) {
    if (error instanceof CfError) return refused(context, error);
    if (error instanceof Refusal) {
      return refused(context, new CfError(error.status, 10_006, 'UnprocessableEntity', error.message));
    }
    log(`unexpected error in ${route.method} ${route.path}: ${String(error)}`);
    return refused(context, new CfError(500, 10_001, 'UnknownError', 'An unknown error occurred.'));
  }
}

/** Returns the token's right; throws if that is less than needed. */
function authorised(tokens: Tokens, header: string | undefined, needed: Right): Right {
  if (header === undefined) throw new CfError(401, 10_002, 'NotAuthenticated', 'Authentication error');
  const right = tokens.rightOf(header);
  if (right === undefined) throw new CfError(401, 1000, 'InvalidAuthToken', 'Invalid Auth Token');
  if (needed === 'write' && right !== 'write') {
    const detail = 'You are not authorized to perform the requested action';
    throw new CfError(403, 10_003, 'NotAuthorized', detail);
  }
  return right;
}

function replied(context: LabContext, { status = 200, json, location }: CfReply): Response {
  const headers = location === undefined ? {} : { location };
  if (json === undefined) return context.body(null, status, headers);
  return context.json(json, status as 200, headers);
}

function refused(context: LabContext, error: CfError): Response {
  return context.json({ errors: [error.toBody()] }, error.status as 422);
}

const BINDINGS = '/v3/service_credential_bindings';

/** Bindings of applications, and service keys. A read-only token does not see credentials. */
const bindingRoutes: readonly CfRoute[] = [
  get(BINDINGS, listBindings),
  { method: 'POST', path: BINDINGS, answer: createBinding },
  get(`${BINDINGS}/:guid`, (request) => presentBinding(bindingOf(request), request.origin)),
  {
    method: 'DELETE',
    path: `${BINDINGS}/:guid`,
    answer: (request) => {
      const job = request.platform.bindings.delete(bindingOf(request));
      return { status: 202, location: `${request.origin}/v3/jobs/${job.guid}` };
    },
  },
  get(`${BINDINGS}/:guid/details`, (request) => detailsOf(bindingOf(request)), 'write'),
  get(`${BINDINGS}/:guid/parameters`, (request) => madeBinding(bindingOf(request)).parameters, 'write'),
];

const Reference = z.object({ data: z.object({ guid: z.string().max(200) }) });
const BindingBody = z.strictObject({
  type: z.enum(['app', 'key']),
  name: z.string().min(1).max(255).nullish(),
  strategy: z.enum(['single', 'multiple']).default('single'),
  relationships: z.strictObject({ service_instance: Reference, app: Reference.optional() }),
  parameters: z.record(z.string(), z.json()).default({}),
  metadata: Metadata,
});

function createBinding({ platform, origin, body }: CfRequest) {
  const { type, name = null, strategy, relationships, parameters, metadata } = parsedBody(BindingBody, body);
  const instance = platform.instance(relationships.service_instance.data.guid);
  if (instance === undefined) {
    const guid = relationships.service_instance.data.guid;
    throw unprocessable(`The service instance could not be found: '${guid}'`);
  }
  const wanted = relationships.app?.data.guid;
  if (type === 'key' && name === null) throw unprocessable("name can't be blank");
  if (type === 'app' && wanted === undefined) throw unprocessable('No app was specified');
  const app = wanted === undefined || type === 'key' ? undefined : platform.app(wanted);
  if (type === 'app' && app === undefined) throw unprocessable(`The app could not be found: '${wanted}'`);
  const wish = { type, name, instance, app, parameters, metadata };
  const { job } = platform.bindings.create(wish, strategy);
  return { status: 202, location: `${origin}/v3/jobs/${job.guid}` } as const;
}

const FILTERS = [
  'names',
  'guids',
  'type',
  'service_instance_guids',
  'service_instance_names',
  'app_guids',
  'app_names',
  'label_selector',
  'include',
];

function listBindings(request: CfRequest): object {
  const { context, platform } = request;
  const query = queryOf(context, FILTERS);
  const rows = platform.bindings.all.filter(
    ({ guid, name, type, instance, app, metadata }) =>
      oneOf(query['guids'], guid) &&
      oneOf(query['names'], name) &&
      oneOf(query['type'], type) &&
      oneOf(query['service_instance_guids'], instance.guid) &&
      oneOf(query['service_instance_names'], instance.name) &&
      oneOf(query['app_guids'], app?.guid) &&
      oneOf(query['app_names'], app?.name) &&
      selected(query['label_selector'], metadata),
  );
  const shown: CredentialBinding[] = [];
  const page = paged(request, rows, (binding, origin) => {
    shown.push(binding);
    return presentBinding(binding, origin);
  });
  const include = query['include'];
  if (include === undefined) return page;
  const { origin } = request;
  const words = include.split(',');
  const apps = [...new Set(shown.flatMap(({ app }) => app ?? []))].map((app) => presentApp(app, origin));
  const instances = [...new Set(shown.map(({ instance }) => instance))];
  return {
    ...page,
    included: {
      ...(words.includes('app') ? { apps } : {}),
      ...(words.includes('service_instance')
        ? { service_instances: instances.map((instance) => presentInstance(instance, origin)) }
        : {}),
    },
  };
}

function bindingOf(request: CfRequest): CredentialBinding {
  return named(request.platform.bindings.all, request, 'Service credential binding');
}

/** An incomplete binding has no credentials and no parameters. */
function madeBinding(binding: CredentialBinding): CredentialBinding {
  if (binding.made !== undefined) return binding;
  const how = binding.operation.state === 'failed' ? 'failed' : 'in progress';
  throw new CfError(404, 10_010, 'ResourceNotFound', `Creation of service credential binding ${how}`);
}

function detailsOf(binding: CredentialBinding): object {
  const credentials: unknown = JSON.parse(madeBinding(binding).made?.credentials.reveal() ?? '{}');
  return { credentials, syslog_drain_url: null, volume_mounts: [] };
}

const landscapeRoutes: readonly CfRoute[] = [
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
  get('/v3/service_instances/:guid/permissions', (request) => {
    instanceOf(request);
    return { read: true, manage: request.holds === 'write' };
  }),
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
