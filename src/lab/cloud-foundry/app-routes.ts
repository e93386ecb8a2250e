import { z } from 'zod';
import { notFound, parsedBody, unprocessable } from './cf-error.ts';
import type { LabApp } from './lab-app.ts';
import { NO_METADATA } from './metadata.ts';
import { oneOf, paged, queryOf, selected } from './page.ts';
import { SPACE } from './places.ts';
import { presentApp, presentDroplet, presentPackage, presentProcess, presentStats } from './present-app.ts';
import type { CfReply, CfRequest, CfRoute } from './route.ts';
import { vcapServices } from './vcap.ts';

const PATH = '/v3/apps/:guid';

/** Applications: what they are, whether they run, and starting and stopping them. */
export const appRoutes: readonly CfRoute[] = [
  { method: 'GET', path: '/v3/apps', answer: (request) => ({ json: listApps(request) }) },
  {
    method: 'GET',
    path: PATH,
    answer: (request) => ({ json: presentApp(appOf(request), request.origin) }),
  },
  { method: 'GET', path: `${PATH}/packages`, answer: (request) => ({ json: packagesOf(request) }) },
  { method: 'GET', path: `${PATH}/droplets`, answer: (request) => ({ json: dropletsOf(request) }) },
  { method: 'GET', path: `${PATH}/droplets/current`, answer: currentDroplet },
  { method: 'GET', path: `${PATH}/processes`, answer: (request) => ({ json: processesOf(request) }) },
  {
    method: 'GET',
    path: `${PATH}/processes/web`,
    answer: (request) => ({ json: presentProcess(appOf(request), request.origin) }),
  },
  {
    method: 'GET',
    path: `${PATH}/processes/web/stats`,
    answer: (request) => ({ json: { resources: [presentStats(appOf(request))] } }),
  },
  { method: 'GET', path: `${PATH}/env`, right: 'write', answer: environmentOf },
  { method: 'PATCH', path: `${PATH}/relationships/current_droplet`, answer: assignDroplet },
  { method: 'POST', path: `${PATH}/actions/start`, answer: (request) => act(request, 'start') },
  { method: 'POST', path: `${PATH}/actions/stop`, answer: (request) => act(request, 'stop') },
  { method: 'POST', path: `${PATH}/actions/restart`, answer: (request) => act(request, 'restart') },
];

/** The application of a request; throws 404. */
function appOf({ platform, param }: CfRequest): LabApp {
  const app = platform.app(param('guid'));
  if (app === undefined) throw notFound('App');
  return app;
}

const FILTERS = ['names', 'guids', 'space_guids', 'organization_guids', 'label_selector', 'include'];

function listApps({ platform, origin, context }: CfRequest): object {
  const query = queryOf(context, FILTERS);
  const rows = platform.apps.filter(
    ({ name, guid }) =>
      oneOf(query['names'], name) &&
      oneOf(query['guids'], guid) &&
      oneOf(query['space_guids'], SPACE.guid) &&
      selected(query['label_selector'], NO_METADATA),
  );
  const { pagination, resources } = paged(context, origin, rows, (app) => presentApp(app, origin));
  return { pagination, resources };
}

function packagesOf(request: CfRequest): object {
  const { platform, origin, context } = request;
  const app = appOf(request);
  const query = queryOf(context, ['guids', 'states', 'types']);
  const all = platform.staging.packages.filter(
    (candidate) =>
      candidate.app === app &&
      oneOf(query['guids'], candidate.guid) &&
      oneOf(query['states'], 'READY') &&
      oneOf(query['types'], 'bits'),
  );
  const rows = query['order_by'] === '-created_at' ? all.toReversed() : all;
  const { pagination, resources } = paged(context, origin, rows, (row) => presentPackage(row, origin));
  return { pagination, resources };
}

function dropletsOf(request: CfRequest): object {
  const { platform, origin, context } = request;
  const app = appOf(request);
  const query = queryOf(context, ['guids', 'states', 'current']);
  const rows = platform.staging.droplets.filter(
    (droplet) =>
      droplet.app === app &&
      oneOf(query['guids'], droplet.guid) &&
      oneOf(query['states'], 'STAGED') &&
      (query['current'] !== 'true' || droplet.guid === app.droplet),
  );
  const { pagination, resources } = paged(context, origin, rows, (row) => presentDroplet(row, origin));
  return { pagination, resources };
}

function currentDroplet(request: CfRequest): CfReply {
  const app = appOf(request);
  const droplet = request.platform.staging.droplets.find(({ guid }) => guid === app.droplet);
  if (droplet === undefined) throw notFound('Droplet');
  return { json: presentDroplet(droplet, request.origin) };
}

function processesOf(request: CfRequest): object {
  const { context, origin } = request;
  const { pagination, resources } = paged(context, origin, [appOf(request)], (app) =>
    presentProcess(app, origin),
  );
  return { pagination, resources };
}

/** What the application's next process would be given. */
function environmentOf(request: CfRequest): CfReply {
  const app = appOf(request);
  const services: unknown = JSON.parse(vcapServices(app, request.platform.bindings.all).reveal());
  return {
    json: {
      environment_variables: {},
      staging_env_json: {},
      running_env_json: {},
      system_env_json: { VCAP_SERVICES: services },
      application_env_json: {
        VCAP_APPLICATION: { application_id: app.guid, application_name: app.name, space_name: SPACE.name },
      },
    },
  };
}

const DropletBody = z.object({ data: z.object({ guid: z.string().max(200) }) });

function assignDroplet(request: CfRequest): CfReply {
  const { platform, origin, body } = request;
  const app = appOf(request);
  const { guid } = parsedBody(DropletBody, body).data;
  const droplet = platform.staging.droplets.find((candidate) => candidate.guid === guid);
  if (droplet?.app !== app) {
    throw unprocessable(
      'Unable to assign current droplet. Ensure the droplet exists and belongs to this app.',
    );
  }
  app.droplet = guid;
  platform.audit.recordApp('audit.app.droplet.mapped', app, { request: { droplet_guid: guid } });
  const self = `${origin}/v3/apps/${app.guid}`;
  const links = {
    self: { href: `${self}/relationships/current_droplet` },
    related: { href: `${self}/droplets/current` },
  };
  return { json: { data: { guid }, links } };
}

async function act(request: CfRequest, action: 'start' | 'stop' | 'restart'): Promise<CfReply> {
  const { platform, origin } = request;
  const app = appOf(request);
  if (action !== 'start') {
    platform.deployments.cancelOf(app);
    await app.stop();
  }
  if (action !== 'stop') app.start();
  platform.audit.recordApp(`audit.app.${action}`, app);
  return { json: presentApp(app, origin) };
}
