import { randomUUID } from 'node:crypto';
import type { App, Binding, Land, ServiceInstance, Space, Task } from './capi-land.ts';
import {
  planOf,
  presentApp,
  presentBinding,
  presentBuild,
  presentDeployment,
  presentInstance,
  presentJob,
  stamp,
  statsOf,
  toOne,
} from './capi-show.ts';
import { type CapiAnswer, type CapiRequest, refusal } from './capi-words.ts';

/**
 * What can be looked at. Lists have two a page, whatever is asked for; an unknown parameter of a list is an
 * error, as it is there.
 */
export function look(request: CapiRequest): CapiAnswer {
  const { land, segments, origin } = request;
  const [kind = '', guid, ...more] = segments;
  if (kind === 'deployments' && !request.hasDeployments) return unknown('Resource');
  if (guid === undefined) return list(request, kind);
  const rest = more.join('/');
  if (kind === 'jobs') {
    const job = land.jobs.find((one) => one.guid === guid);
    return job === undefined ? unknown('Job') : found(presentJob(job));
  }
  if (kind === 'apps') return lookAtApp(request, land.apps.find(isSeen(guid)), rest);
  if (kind === 'service_credential_bindings') {
    const binding = land.bindings.find((one) => one.guid === guid && seesBinding(one));
    if (binding === undefined) return unknown('Service credential binding');
    if (rest === '') return found(presentBinding(binding));
    return rest === 'parameters' ? parametersOf(request, binding) : secret();
  }
  if (kind === 'service_instances') {
    const instance = land.instances.find((one) => one.guid === guid && seesInstance(one));
    if (instance === undefined) return unknown('Service instance');
    if (rest === '') return found(presentInstance(instance));
    if (rest === 'permissions') return found({ manage: !request.isReadOnly, read: true });
    return rest.endsWith('usage_summary') ? found(usageOf(land, instance)) : unknown('Resource');
  }
  if (kind === 'service_plans' && land.instances.some((one) => planOf(one) === guid))
    return found(plan(guid));
  if (kind === 'service_offerings' && rest === '') return found(offering(request, guid));
  if (kind === 'processes') {
    const process = land.apps.flatMap(({ processes }) => processes).find((one) => one.guid === guid);
    if (process === undefined) return unknown('Process');
    return found(rest === 'stats' ? statsOf(land, process) : { guid, instances: process.instances });
  }
  const task = [...land.builds, ...land.deployments].find((one) => one.guid === guid);
  if (task === undefined || rest !== '') return unknown('Resource');
  return found(kind === 'builds' ? presentBuild(task, origin) : presentDeployment(task));
}

function lookAtApp({ land }: CapiRequest, app: App | undefined, rest: string): CapiAnswer {
  if (app === undefined) return unknown('App');
  if (rest === '') return found(presentApp(app));
  const { droplet } = app;
  if (rest === 'droplets/current') return found({ guid: droplet.guid, created_at: stamp(droplet.createdAt) });
  if (rest === 'processes') {
    const all = app.processes.map(({ guid, type, instances }) => ({ guid, type, instances, command: '***' }));
    return found({ pagination: { total_pages: 1, next: null }, resources: all });
  }
  const [, type, stats] = /^processes\/(\w+)(\/stats)?$/u.exec(rest) ?? [];
  const process = app.processes.find((one) => one.type === type);
  if (process === undefined) return unknown('Process');
  return found(stats === undefined ? { type, instances: process.instances } : statsOf(land, process));
}

const PAGING = ['page', 'per_page', 'order_by', 'label_selector', 'created_ats', 'updated_ats', 'guids'];
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  organizations: ['names'],
  spaces: ['names', 'organization_guids', 'include'],
  apps: ['names', 'organization_guids', 'space_guids', 'stacks', 'lifecycle_type', 'include'],
  service_instances: ['names', 'type', 'space_guids', 'organization_guids', 'service_plan_guids', 'fields'],
  service_credential_bindings: [
    'names',
    'type',
    'service_instance_guids',
    'app_guids',
    'app_names',
    'include',
  ],
  packages: ['states', 'types', 'app_guids', 'space_guids', 'organization_guids'],
  builds: ['states', 'app_guids', 'package_guids'],
  deployments: ['app_guids', 'states', 'status_values', 'status_reasons'],
  audit_events: ['types', 'target_guids', 'space_guids', 'organization_guids'],
};

function list(request: CapiRequest, kind: string): CapiAnswer {
  const filters = FILTERS[kind];
  if (filters === undefined) return unknown('Resource');
  const names = [...request.query.keys()].map((name) => name.replace(/\[.*\]$/u, ''));
  const strange = names.find((name) => ![...PAGING, ...filters].includes(name));
  if (strange !== undefined) {
    return refusal(400, 10_005, 'CF-BadQueryParameter', `Unknown query parameter(s): '${strange}'`);
  }
  if (kind === 'audit_events' && request.auditForbidden) {
    return refusal(403, 10_003, 'CF-NotAuthorized', 'You are not authorized to perform the requested action');
  }
  const all = RESOURCES[kind]?.(request) ?? [];
  const of = (name: string) => request.query.get(name)?.split(',');
  const label = request.query.get('label_selector')?.split('=');
  const fitting = all.filter(
    (one) =>
      [...filters, 'guids'].every((name) => of(name)?.includes(one.facets[name] ?? '') ?? true) &&
      (label === undefined || one.labels?.[label[0] ?? ''] === label[1]),
  );
  const page = Number(request.query.get('page') ?? 1);
  const shown = fitting.slice((page - 1) * 2, page * 2);
  const href = `${request.origin}/v3/${kind}?page=${page + 1}&per_page=2`;
  const apps = shown.flatMap(({ app }) => (app === undefined ? [] : [presentApp(app)]));
  return found({
    pagination: {
      total_results: fitting.length,
      total_pages: Math.max(1, Math.ceil(fitting.length / 2)),
      first: { href: href.replace(/page=\d+/u, 'page=1') },
      next: fitting.length > page * 2 ? { href } : null,
      previous: null,
    },
    resources: shown.map(({ json }) => json),
    ...(request.query.get('include') === 'app' ? { included: { apps } } : {}),
  });
}

interface Listed {
  readonly json: object;
  readonly facets: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly app?: App | undefined;
}

const RESOURCES: Readonly<Record<string, (request: CapiRequest) => Listed[]>> = {
  organizations: ({ land }) =>
    [...new Set(land.spaces.filter(({ visible }) => visible).map(({ org }) => org))].map((org) => ({
      json: { ...org, suspended: false },
      facets: { guids: org.guid, names: org.name },
    })),
  spaces: ({ land }) =>
    land.spaces
      .filter(({ visible }) => visible)
      .map((space) => ({
        json: { guid: space.guid, name: space.name, relationships: { organization: toOne(space.org.guid) } },
        facets: { guids: space.guid, names: space.name, organization_guids: space.org.guid },
      })),
  apps: ({ land }) =>
    land.apps
      .filter(({ space }) => space.visible)
      .map((app) => ({
        json: presentApp(app),
        facets: { guids: app.guid, names: app.name, space_guids: app.space.guid },
      })),
  service_instances: ({ land }) =>
    land.instances.filter(seesInstance).map((one) => ({
      json: presentInstance(one),
      facets: { guids: one.guid, names: one.name, type: one.type, space_guids: one.space.guid },
    })),
  service_credential_bindings: ({ land }) =>
    land.bindings.filter(seesBinding).map((one) => ({
      json: presentBinding(one),
      facets: {
        guids: one.guid,
        names: one.name ?? undefined,
        type: one.type,
        service_instance_guids: one.instance.guid,
        app_guids: one.app?.guid,
        include: 'app',
      },
      labels: one.labels,
      app: one.app,
    })),
  packages: ({ land }) =>
    land.apps.map((app) => ({
      json: { guid: app.package, type: app.lifecycle === 'docker' ? 'docker' : 'bits', state: 'READY' },
      facets: { guids: app.package, app_guids: app.guid, states: 'READY' },
    })),
  builds: ({ land, origin }) => land.builds.map((one) => listed(one, presentBuild(one, origin))),
  deployments: ({ land }) => land.deployments.map((one) => listed(one, presentDeployment(one))),
  audit_events: ({ land }) =>
    land.events.map(({ guid, type, target, createdAt }) => ({
      json: { guid, type, created_at: stamp(createdAt), target: { guid: target }, data: {} },
      facets: { types: type, target_guids: target },
    })),
};

function listed(task: Task, json: object): Listed {
  const isOver = task.state !== 'DEPLOYING';
  return {
    json,
    facets: { app_guids: task.app.guid, states: task.state, status_values: isOver ? 'FINALIZED' : 'ACTIVE' },
    labels: task.labels,
  };
}

/** Where the offering does not say that its bindings can be retrieved, this is a 502 there. */
function parametersOf(request: CapiRequest, { instance, parameters }: Binding): CapiAnswer {
  if (!request.retrievable) {
    const words = 'This service does not support fetching service binding parameters.';
    return refusal(502, 120_004, 'CF-ServiceFetchBindingParametersNotSupported', words);
  }
  const { brokerSays } = instance;
  if (brokerSays === undefined) return found(parameters);
  return refusal(502, 10_001, 'CF-ServiceBrokerApiUnreachable', brokerSays);
}

/** Applications in the spaces that it is shared into. */
function usageOf(land: Land, instance: ServiceInstance): object {
  const bound = land.bindings.filter((binding) => binding.instance === instance);
  return {
    usage_summary: instance.sharedInto.map(({ guid }) => ({
      space: { guid },
      bound_app_count: bound.filter(({ app }) => app?.space.guid === guid).length,
    })),
  };
}

function plan(guid: string): object {
  return { guid, name: 'big', relationships: { service_offering: toOne(guid.replace('plan', 'offering')) } };
}

function offering({ retrievable }: CapiRequest, guid: string): object {
  return { guid, name: 'acme-kv', broker_catalog: { features: { bindings_retrievable: retrievable } } };
}

function isSeen(guid: string) {
  return (app: App) => app.guid === guid && app.space.visible;
}

function seesBinding({ app, instance }: Binding): boolean {
  return (app?.space ?? instance.space).visible;
}

function seesInstance({ space, sharedInto }: ServiceInstance): boolean {
  return [space, ...sharedInto].some((one: Space) => one.visible);
}

function found(json: object): CapiAnswer {
  return { status: 200, json };
}

function secret(): CapiAnswer {
  return { status: 200, json: { credentials: { password: `cred-${randomUUID()}` } }, isSecret: true };
}

function unknown(what: string): CapiAnswer {
  return refusal(404, 10_010, 'CF-ResourceNotFound', `${what} not found`);
}
