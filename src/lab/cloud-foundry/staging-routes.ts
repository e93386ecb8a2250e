import { z } from 'zod';
import { notFound, parsedBody, unprocessable } from './cf-error.ts';
import type { Deployment } from './deployments.ts';
import type { LabApp } from './lab-app.ts';
import { Metadata } from './metadata.ts';
import { oneOf, paged, queryOf, selected } from './page.ts';
import { presentBuild, presentDeployment, presentDroplet, presentPackage } from './present-app.ts';
import type { CfReply, CfRequest, CfRoute } from './route.ts';

/** How a new process comes to be: packages, builds, droplets, deployments. */
export const stagingRoutes: readonly CfRoute[] = [
  { method: 'GET', path: '/v3/packages', answer: (request) => ({ json: listPackages(request) }) },
  { method: 'GET', path: '/v3/packages/:guid', answer: onePackage },
  { method: 'GET', path: '/v3/droplets', answer: (request) => ({ json: listDroplets(request) }) },
  { method: 'GET', path: '/v3/droplets/:guid', answer: oneDroplet },
  { method: 'GET', path: '/v3/builds', answer: (request) => ({ json: listBuilds(request) }) },
  { method: 'POST', path: '/v3/builds', answer: createBuild },
  { method: 'GET', path: '/v3/builds/:guid', answer: oneBuild },
  { method: 'GET', path: '/v3/deployments', answer: (request) => ({ json: listDeployments(request) }) },
  { method: 'POST', path: '/v3/deployments', answer: createDeployment },
  {
    method: 'GET',
    path: '/v3/deployments/:guid',
    answer: (request) => ({ json: presentDeployment(deploymentOf(request), request.origin) }),
  },
  {
    method: 'POST',
    path: '/v3/deployments/:guid/actions/cancel',
    answer: (request) => {
      request.platform.deployments.cancel(deploymentOf(request));
      return { json: {} };
    },
  },
];

function listPackages({ platform, origin, context }: CfRequest): object {
  const query = queryOf(context, ['guids', 'states', 'types', 'app_guids', 'space_guids', 'label_selector']);
  const all = platform.staging.packages.filter(
    ({ guid, app }) =>
      oneOf(query['guids'], guid) &&
      oneOf(query['app_guids'], app.guid) &&
      oneOf(query['states'], 'READY') &&
      oneOf(query['types'], 'bits'),
  );
  return page(context, origin, ordered(query, all), presentPackage);
}

function onePackage({ platform, origin, param }: CfRequest): CfReply {
  const found = platform.staging.packages.find(({ guid }) => guid === param('guid'));
  if (found === undefined) throw notFound('Package');
  return { json: presentPackage(found, origin) };
}

function listDroplets({ platform, origin, context }: CfRequest): object {
  const query = queryOf(context, ['guids', 'states', 'app_guids', 'space_guids', 'label_selector']);
  const all = platform.staging.droplets.filter(
    ({ guid, app }) =>
      oneOf(query['guids'], guid) && oneOf(query['app_guids'], app.guid) && oneOf(query['states'], 'STAGED'),
  );
  return page(context, origin, ordered(query, all), presentDroplet);
}

function oneDroplet({ platform, origin, param }: CfRequest): CfReply {
  const found = platform.staging.droplets.find(({ guid }) => guid === param('guid'));
  if (found === undefined) throw notFound('Droplet');
  return { json: presentDroplet(found, origin) };
}

function listBuilds({ platform, origin, context }: CfRequest): object {
  const query = queryOf(context, ['states', 'app_guids', 'package_guids', 'label_selector']);
  const all = platform.staging.builds.filter(
    (build) =>
      oneOf(query['states'], build.state) &&
      oneOf(query['app_guids'], build.package.app.guid) &&
      oneOf(query['package_guids'], build.package.guid) &&
      selected(query['label_selector'], build.metadata),
  );
  return page(context, origin, ordered(query, all), presentBuild);
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

function oneBuild({ platform, origin, param }: CfRequest): CfReply {
  const found = platform.staging.builds.find(({ guid }) => guid === param('guid'));
  if (found === undefined) throw notFound('Build');
  return { json: presentBuild(found, origin) };
}

function listDeployments({ platform, origin, context }: CfRequest): object {
  const query = queryOf(context, [
    'app_guids',
    'states',
    'status_values',
    'status_reasons',
    'label_selector',
  ]);
  const all = platform.deployments.all.filter(
    ({ app, value, reason, metadata }) =>
      oneOf(query['app_guids'], app.guid) &&
      oneOf(query['status_values'], value) &&
      oneOf(query['status_reasons'], reason) &&
      selected(query['label_selector'], metadata),
  );
  return page(context, origin, ordered(query, all), presentDeployment);
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
  const chosen = dropletFor(platform.staging.droplets, app, droplet?.guid ?? app.droplet);
  const wish = { app, droplet: chosen, maxInFlight: options.max_in_flight, metadata };
  return { status: 201, json: presentDeployment(platform.deployments.create(wish), origin) };
}

function dropletFor<D extends { readonly guid: string; readonly app: LabApp }>(
  droplets: readonly D[],
  app: LabApp,
  wanted: string | undefined,
): D {
  const found = droplets.find(({ guid }) => guid === wanted);
  if (found?.app === app) return found;
  throw unprocessable('Unable to deploy this app, the droplet does not exist or belongs to another app.');
}

function deploymentOf({ platform, param }: CfRequest): Deployment {
  const found = platform.deployments.all.find(({ guid }) => guid === param('guid'));
  if (found === undefined) throw notFound('Deployment');
  return found;
}

function ordered<Row>(query: Readonly<Record<string, string>>, rows: readonly Row[]): readonly Row[] {
  return query['order_by'] === '-created_at' ? rows.toReversed() : rows;
}

function page<Row>(
  context: CfRequest['context'],
  origin: string,
  rows: readonly Row[],
  present: (row: Row, origin: string) => object,
): object {
  const { pagination, resources } = paged(context, origin, rows, (row) => present(row, origin));
  return { pagination, resources };
}
