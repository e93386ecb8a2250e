import * as z from 'zod';
import { CfError, parsedBody, unprocessable } from './cf-error.ts';
import type { CredentialBinding } from './credential-bindings.ts';
import { Metadata } from './metadata.ts';
import { presentApp, presentBinding, presentInstance } from './present.ts';
import { type CfRequest, type CfRoute, get, named, oneOf, paged, queryOf, selected } from './route.ts';

const PATH = '/v3/service_credential_bindings';

/** Bindings of applications, and service keys. A read-only token does not see credentials. */
export const bindingRoutes: readonly CfRoute[] = [
  get(PATH, listBindings),
  { method: 'POST', path: PATH, answer: createBinding },
  get(`${PATH}/:guid`, (request) => presentBinding(bindingOf(request), request.origin)),
  {
    method: 'DELETE',
    path: `${PATH}/:guid`,
    answer: (request) => {
      const job = request.platform.bindings.delete(bindingOf(request));
      return { status: 202, location: `${request.origin}/v3/jobs/${job.guid}` };
    },
  },
  get(`${PATH}/:guid/details`, (request) => detailsOf(bindingOf(request)), 'write'),
  get(`${PATH}/:guid/parameters`, (request) => madeBinding(bindingOf(request)).parameters, 'write'),
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
