import { type Asked, deploymentJson, problem, type Reply } from './capi-changes.ts';
import type { CapiModel, ModelApp, ModelBinding } from './capi-model.ts';

/** The calls that read. Every look lets what is under way come closer to its end, after it was answered. */
export function read(model: CapiModel, { path, query }: Asked): Reply {
  const list = lists(model)[path];
  if (list !== undefined)
    return page(
      list.filter(filterOf(query)).map(({ json }) => json),
      query,
      model,
    );
  const [, kind = '', guid = '', rest = ''] = /^\/v3\/(\w+)\/([^/]+)\/?(.*)$/u.exec(path) ?? [];
  if (path === '/v3/info') return { status: 200, body: model.info };
  if (kind === 'jobs') return job(model, guid);
  if (kind === 'service_instances' && rest.endsWith('usage_summary')) {
    const usage_summary = model.usage.map(({ space, apps }) => ({
      space: { guid: space },
      bound_app_count: apps,
    }));
    return { status: 200, body: { usage_summary } };
  }
  if (kind === 'apps' && rest !== '') return ofApp(model, guid, rest);
  if (kind === 'service_credential_bindings' && rest === 'parameters') {
    const binding = model.bindings.find((one) => one.guid === guid);
    return binding === undefined ? problem(404, 'Not found') : { status: 200, body: binding.parameters };
  }
  const found = (lists(model)[`/v3/${kind}`] ?? []).find(({ json }) => json['guid'] === guid);
  return found === undefined ? problem(404, 'Resource not found') : { status: 200, body: found.json };
}

interface Row {
  readonly json: Record<string, unknown>;
  readonly keys: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>>;
}

function lists(model: CapiModel): Record<string, Row[]> {
  return {
    '/v3/service_instances': model.instances.map(({ guid, name, space, dashboard }) => ({
      json: { guid, name, dashboard_url: dashboard, relationships: one('space', space) },
      keys: { names: name, guids: guid },
    })),
    '/v3/service_credential_bindings': model.bindings.map((binding) => ({
      json: bindingJson(binding),
      keys: {
        type: binding.type,
        names: binding.name ?? undefined,
        app_guids: binding.app,
        service_instance_guids: binding.instance,
      },
      labels: binding.metadata.labels,
    })),
    '/v3/apps': model.apps.map((app) => ({ json: appJson(app), keys: { names: app.name, guids: app.guid } })),
    '/v3/spaces': model.spaces.map(({ guid, name, org }) => ({
      json: { guid, name, relationships: one('organization', org) },
      keys: { guids: guid },
    })),
    '/v3/organizations': model.orgs.map((org) => ({ json: org, keys: { guids: org.guid } })),
    '/v3/packages': model.apps
      .filter(({ lifecycle }) => lifecycle === 'buildpack')
      .map(({ guid }) => ({
        json: { guid: `package-of-${guid}`, state: 'READY', created_at: '2026-01-01T00:00:00Z' },
        keys: { app_guids: guid, states: 'READY' },
      })),
    '/v3/builds': model.builds.map((build) => ({
      json: { ...build },
      keys: { app_guids: build.app },
      labels: build.metadata.labels,
    })),
    '/v3/audit_events': model.events.map((event) => ({ json: event, keys: { target_guids: event.target } })),
    ...(model.deployments404
      ? {}
      : {
          '/v3/deployments': model.deployments.map((deployment) => ({
            json: deploymentJson(deployment),
            keys: { app_guids: deployment.app, status_values: deployment.value },
            labels: deployment.metadata.labels,
          })),
        }),
  };
}

function filterOf(query: URLSearchParams): (row: Row) => boolean {
  return ({ keys, labels }) => {
    const [label, value] = query.get('label_selector')?.split('=') ?? [];
    if (label !== undefined && labels?.[label] !== value) return false;
    return Object.entries(keys).every(([key, is]) => {
      const wanted = query.get(key)?.split(',');
      return wanted === undefined || (is !== undefined && wanted.includes(is));
    });
  };
}

/** At most three a page, so that every list has several. */
function page(all: unknown[], query: URLSearchParams, model: CapiModel): Reply {
  const size = Math.min(3, Number(query.get('per_page') ?? 50));
  const number = Number(query.get('page') ?? 1);
  const resources = all.slice((number - 1) * size, number * size);
  const next = number * size < all.length ? { href: 'https://evil.example/v3/next' } : null;
  const included = query.get('include') === 'app' ? { included: { apps: model.apps.map(appJson) } } : {};
  const pagination = { total_pages: Math.ceil(all.length / size), total_results: all.length, next };
  return { status: 200, body: { pagination, resources, ...included } };
}

function job(model: CapiModel, guid: string): Reply {
  const found = model.jobs.get(guid);
  if (found === undefined) return problem(404, 'Job not found');
  const errors = found.state === 'FAILED' ? found.errors : [];
  return { status: 200, body: { guid, state: found.state, errors, warnings: [] } };
}

function ofApp(model: CapiModel, guid: string, rest: string): Reply {
  const app = model.apps.find((one) => one.guid === guid);
  if (app === undefined) return problem(404, 'App not found');
  if (rest === 'droplets/current') return { status: 200, body: app.droplet };
  if (rest === 'processes/web') return { status: 200, body: { instances: app.starts.length } };
  if (rest !== 'processes/web/stats') return problem(404, 'Unknown request');
  const resources = app.starts.map((start, index) => ({
    type: 'web',
    index,
    state: app.state === 'STARTED' ? app.instanceState : 'DOWN',
    uptime: Math.floor((Date.now() - start) / 1000),
  }));
  return { status: 200, body: { resources } };
}

function appJson({ guid, name, state, lifecycle, space }: ModelApp): Record<string, unknown> {
  return { guid, name, state, lifecycle: { type: lifecycle, data: {} }, relationships: one('space', space) };
}

function bindingJson({ guid, type, name, created_at, metadata, operation, app, instance }: ModelBinding) {
  const relationships = {
    ...(app === undefined ? {} : one('app', app)),
    ...one('service_instance', instance),
  };
  return { guid, type, name, created_at, metadata, last_operation: operation, relationships, new_field: [1] };
}

function one(name: string, guid: string) {
  return { [name]: { data: { guid } } };
}
