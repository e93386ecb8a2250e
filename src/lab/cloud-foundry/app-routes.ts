import * as z from 'zod';
import { SPACE } from '../landscape.ts';
import { notFound, parsedBody, unprocessable } from './cf-error.ts';
import type { LabApp } from './lab-app.ts';
import { Metadata, NO_METADATA } from './metadata.ts';
import {
  presentApp,
  presentBuild,
  presentDeployment,
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
import type { Deployment } from './staging.ts';

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

/** Those that the application's next process would get. */
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

export const stagingRoutes: readonly CfRoute[] = [
  get('/v3/packages', listPackages),
  get('/v3/packages/:guid', (request) =>
    presentPackage(named(request.platform.staging.packages, request, 'Package'), request.origin),
  ),
  get('/v3/droplets', listDroplets),
  get('/v3/droplets/:guid', (request) =>
    presentDroplet(named(request.platform.staging.droplets, request, 'Droplet'), request.origin),
  ),
  get('/v3/builds', listBuilds),
  { method: 'POST', path: '/v3/builds', answer: createBuild },
  get('/v3/builds/:guid', (request) =>
    presentBuild(named(request.platform.staging.builds, request, 'Build'), request.origin),
  ),
  get('/v3/deployments', listDeployments),
  { method: 'POST', path: '/v3/deployments', answer: createDeployment },
  get('/v3/deployments/:guid', (request) => presentDeployment(deploymentOf(request), request.origin)),
  {
    method: 'POST',
    path: '/v3/deployments/:guid/actions/cancel',
    answer: (request) => {
      request.platform.deployments.cancel(deploymentOf(request));
      return { json: {} };
    },
  },
];

function listPackages(request: CfRequest): object {
  const names = ['guids', 'states', 'types', 'app_guids', 'space_guids', 'label_selector'];
  const query = queryOf(request.context, names);
  const rows = request.platform.staging.packages.filter(
    ({ guid, app }) =>
      oneOf(query['guids'], guid) &&
      oneOf(query['app_guids'], app.guid) &&
      oneOf(query['states'], 'READY') &&
      oneOf(query['types'], 'bits'),
  );
  return paged(request, rows, presentPackage);
}

function listDroplets(request: CfRequest): object {
  const query = queryOf(request.context, ['guids', 'states', 'app_guids', 'space_guids', 'label_selector']);
  const rows = request.platform.staging.droplets.filter(
    ({ guid, app }) =>
      oneOf(query['guids'], guid) && oneOf(query['app_guids'], app.guid) && oneOf(query['states'], 'STAGED'),
  );
  return paged(request, rows, presentDroplet);
}

function listBuilds(request: CfRequest): object {
  const query = queryOf(request.context, ['states', 'app_guids', 'package_guids', 'label_selector']);
  const rows = request.platform.staging.builds.filter(
    (build) =>
      oneOf(query['states'], build.state) &&
      oneOf(query['app_guids'], build.package.app.guid) &&
      oneOf(query['package_guids'], build.package.guid) &&
      selected(query['label_selector'], build.metadata),
  );
  return paged(request, rows, presentBuild);
}

const Guid = z.object({ guid: z.string().max(200) });
const BuildBody = z.object({ package: Guid, metadata: Metadata });

function createBuild({ platform, origin, body }: CfRequest): CfReply {
  const wish = parsedBody(BuildBody, body);
  const source = platform.staging.packages.find(({ guid }) => guid === wish.package.guid);
  if (source === undefined) {
    throw unprocessable('Unable to use package. Ensure that the package exists and you have access to it.');
  }
  return { status: 201, json: presentBuild(platform.staging.build(source, wish.metadata), origin) };
}

function listDeployments(request: CfRequest): object {
  const names = ['app_guids', 'states', 'status_values', 'status_reasons', 'label_selector'];
  const query = queryOf(request.context, names);
  const rows = request.platform.deployments.all.filter(
    ({ app, value, reason, metadata }) =>
      oneOf(query['app_guids'], app.guid) &&
      oneOf(query['status_values'], value) &&
      oneOf(query['status_reasons'], reason) &&
      selected(query['label_selector'], metadata),
  );
  return paged(request, rows, presentDeployment);
}

const DeploymentBody = z.object({
  strategy: z.string().max(40).default('rolling'),
  droplet: Guid.optional(),
  options: z.object({ max_in_flight: z.int().positive().default(1) }).default({ max_in_flight: 1 }),
  relationships: z.object({ app: z.object({ data: Guid }) }),
  metadata: Metadata,
});

function createDeployment({ platform, origin, body }: CfRequest): CfReply {
  const { strategy, droplet, options, relationships, metadata } = parsedBody(DeploymentBody, body);
  if (strategy !== 'rolling') {
    throw unprocessable(`Strategy '${strategy}' is not a supported deployment strategy`);
  }
  const app = platform.app(relationships.app.data.guid);
  if (app === undefined) {
    throw unprocessable('Unable to use app. Ensure that the app exists and you have access to it.');
  }
  const wanted = droplet?.guid ?? app.droplet;
  const chosen = platform.staging.droplets.find(({ guid }) => guid === wanted);
  if (chosen?.app !== app) {
    throw unprocessable('Unable to deploy this app, the droplet does not exist or belongs to another app.');
  }
  const wish = { app, droplet: chosen, maxInFlight: options.max_in_flight, metadata };
  return { status: 201, json: presentDeployment(platform.deployments.create(wish), origin) };
}

function deploymentOf(request: CfRequest): Deployment {
  return named(request.platform.deployments.all, request, 'Deployment');
}
