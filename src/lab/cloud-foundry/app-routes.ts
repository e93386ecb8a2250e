import * as z from 'zod';
import { SPACE } from '../landscape.ts';
import { notFound, parsedBody, unprocessable } from './cf-error.ts';
import type { LabApp } from './lab-app.ts';
import { NO_METADATA } from './metadata.ts';
import {
  presentApp,
  presentDroplet,
  presentPackage,
  presentProcess,
  presentStats,
  vcapServices,
} from './present.ts';
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

const PATH = '/v3/apps/:guid';

export const appRoutes: readonly CfRoute[] = [
  get('/v3/apps', listApps),
  get(PATH, (request) => presentApp(appOf(request), request.origin)),
  get(`${PATH}/packages`, packagesOf),
  get(`${PATH}/droplets`, dropletsOf),
  get(`${PATH}/droplets/current`, currentDroplet),
  get(`${PATH}/processes`, (request) => paged(request, [appOf(request)], presentProcess)),
  get(`${PATH}/processes/web`, (request) => presentProcess(appOf(request), request.origin)),
  get(`${PATH}/processes/web/stats`, (request) => ({ resources: [presentStats(appOf(request))] })),
  get(`${PATH}/env`, environmentOf, 'write'),
  { method: 'PATCH', path: `${PATH}/relationships/current_droplet`, answer: assignDroplet },
  { method: 'POST', path: `${PATH}/actions/start`, answer: (request) => act(request, 'start') },
  { method: 'POST', path: `${PATH}/actions/stop`, answer: (request) => act(request, 'stop') },
  { method: 'POST', path: `${PATH}/actions/restart`, answer: (request) => act(request, 'restart') },
];

function appOf(request: CfRequest): LabApp {
  return named(request.platform.apps, request, 'App');
}

const FILTERS = ['names', 'guids', 'space_guids', 'organization_guids', 'label_selector', 'include'];

function listApps(request: CfRequest): object {
  const query = queryOf(request.context, FILTERS);
  const rows = request.platform.apps.filter(
    ({ name, guid }) =>
      oneOf(query['names'], name) &&
      oneOf(query['guids'], guid) &&
      oneOf(query['space_guids'], SPACE.guid) &&
      selected(query['label_selector'], NO_METADATA),
  );
  return paged(request, rows, presentApp);
}

function packagesOf(request: CfRequest): object {
  const app = appOf(request);
  const query = queryOf(request.context, ['guids', 'states', 'types']);
  const rows = request.platform.staging.packages.filter(
    (candidate) =>
      candidate.app === app &&
      oneOf(query['guids'], candidate.guid) &&
      oneOf(query['states'], 'READY') &&
      oneOf(query['types'], 'bits'),
  );
  return paged(request, rows, presentPackage);
}

function dropletsOf(request: CfRequest): object {
  const app = appOf(request);
  const query = queryOf(request.context, ['guids', 'states', 'current']);
  const rows = request.platform.staging.droplets.filter(
    (droplet) =>
      droplet.app === app &&
      oneOf(query['guids'], droplet.guid) &&
      oneOf(query['states'], 'STAGED') &&
      (query['current'] !== 'true' || droplet.guid === app.droplet),
  );
  return paged(request, rows, presentDroplet);
}

function currentDroplet(request: CfRequest): object {
  const app = appOf(request);
  const droplet = request.platform.staging.droplets.find(({ guid }) => guid === app.droplet);
  if (droplet === undefined) throw notFound('Droplet');
  return presentDroplet(droplet, request.origin);
}

/** The credentials that the application's next process would get. */
function environmentOf(request: CfRequest): object {
  const app = appOf(request);
  const services: unknown = JSON.parse(vcapServices(app, request.platform.bindings.all).reveal());
  return {
    environment_variables: {},
    staging_env_json: {},
    running_env_json: {},
    system_env_json: { VCAP_SERVICES: services },
    application_env_json: {
      VCAP_APPLICATION: { application_id: app.guid, application_name: app.name, space_name: SPACE.name },
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
