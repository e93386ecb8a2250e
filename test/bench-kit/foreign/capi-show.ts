import type { App, Binding, Land, ServiceInstance, Task } from './capi-land.ts';

/* How things look from outside, with what is missing or null in real ones. */

export function presentApp({ guid, name, state, lifecycle, space }: App): object {
  return {
    guid,
    name,
    state,
    created_at: '2024-02-01T10:00:00Z',
    lifecycle: { type: lifecycle, data: {} },
    relationships: { space: toOne(space.guid), current_droplet: { data: null } },
  };
}

export function presentInstance(one: ServiceInstance): object {
  return {
    guid: one.guid,
    name: one.name,
    type: one.type,
    tags: [],
    last_operation: null,
    ...(one.type === 'managed' ? { dashboard_url: one.dashboardUrl, maintenance_info: {} } : {}),
    relationships: {
      space: toOne(one.space.guid),
      ...(one.type === 'managed' ? { service_plan: toOne(planOf(one)) } : {}),
    },
  };
}

export function presentBinding({
  guid,
  type,
  name,
  createdAt,
  operation,
  labels,
  instance,
  app,
}: Binding): object {
  return {
    guid,
    type,
    name,
    created_at: stamp(createdAt),
    updated_at: stamp(createdAt),
    last_operation: operation === null ? null : { ...operation, updated_at: stamp(createdAt) },
    ...(labels === undefined ? {} : { metadata: { labels, annotations: {} } }),
    relationships: {
      service_instance: toOne(instance.guid),
      ...(app === undefined ? {} : { app: toOne(app.guid) }),
    },
  };
}

export function presentBuild(
  { guid, state, error, droplet, createdAt, labels }: Task,
  origin: string,
): object {
  return {
    guid,
    state,
    error,
    created_at: stamp(createdAt),
    droplet: droplet === null ? null : { guid: droplet, href: `${origin}/v3/droplets/${droplet}` },
    metadata: { labels, annotations: {} },
  };
}

export function presentDeployment({ guid, state, error, droplet, createdAt, labels }: Task): object {
  const isOver = state !== 'DEPLOYING';
  return {
    guid,
    created_at: stamp(createdAt),
    updated_at: stamp(createdAt),
    status: {
      value: isOver ? 'FINALIZED' : 'ACTIVE',
      reason: state,
      details: { last_status_change: stamp(createdAt), ...(error === null ? {} : { error }) },
    },
    droplet: { guid: droplet },
    metadata: { labels, annotations: {} },
  };
}

export function presentJob({ guid, state, error }: Land['jobs'][number]): object {
  const errors = [
    { title: 'UnableToPerform', code: 10_009, detail: error },
    { title: 'CF-Unknown', code: null, detail: null },
  ];
  return {
    guid,
    operation: 'service_bindings.x',
    state,
    errors: error === undefined ? [] : errors,
    warnings: [],
  };
}

export function statsOf(
  land: Land,
  { type, instances, startedAt, state = 'RUNNING' }: App['processes'][number],
): object {
  const uptime = startedAt === undefined ? null : Math.floor((land.now() - startedAt) / 1000);
  const one = uptime === null ? { state: 'DOWN', uptime } : { state, uptime, routable: null };
  return { resources: Array.from({ length: instances }, (_, index) => ({ type, index, ...one, usage: {} })) };
}

export function toOne(guid: string) {
  return { data: { guid } };
}

export function stamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function planOf({ name }: ServiceInstance): string {
  return `plan-of-${name.replace(/\W/gu, '_')}`;
}
