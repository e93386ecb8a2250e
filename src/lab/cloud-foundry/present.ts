import { Secret } from '../../base/secret.ts';
import type { LabInstance } from '../instance.ts';
import { PLAN_ID, SPACE } from '../landscape.ts';
import type { BindingOperation, CredentialBinding } from './credential-bindings.ts';
import type { LabApp } from './lab-app.ts';
import { NO_METADATA, stamp } from './metadata.ts';
import type { Build, Deployment, Droplet, Package } from './staging.ts';

const LIFECYCLE = { type: 'buildpack', data: { buildpacks: ['nodejs_buildpack'], stack: 'cflinuxfs4' } };

export function presentApp(app: LabApp, origin: string): object {
  const self = `${origin}/v3/apps/${app.guid}`;
  const post = (path: string) => ({ href: `${self}/${path}`, method: 'POST' });
  return {
    guid: app.guid,
    name: app.name,
    state: app.state,
    created_at: stamp(app.createdAt),
    updated_at: stamp(app.updatedAt),
    lifecycle: LIFECYCLE,
    relationships: {
      space: { data: { guid: SPACE.guid } },
      current_droplet: { data: app.droplet === undefined ? null : { guid: app.droplet } },
    },
    metadata: NO_METADATA,
    links: {
      self: { href: self },
      space: { href: `${origin}/v3/spaces/${SPACE.guid}` },
      processes: { href: `${self}/processes` },
      packages: { href: `${self}/packages` },
      current_droplet: { href: `${self}/droplets/current` },
      droplets: { href: `${self}/droplets` },
      start: post('actions/start'),
      stop: post('actions/stop'),
    },
  };
}

export function presentProcess(app: LabApp, origin: string): object {
  return {
    guid: app.guid,
    type: 'web',
    command: '[PRIVATE DATA HIDDEN IN LISTS]',
    instances: 1,
    memory_in_mb: 64,
    disk_in_mb: 64,
    health_check: { type: 'http', data: { timeout: null, invocation_timeout: null, endpoint: '/' } },
    relationships: { app: { data: { guid: app.guid } }, revision: null },
    metadata: NO_METADATA,
    created_at: stamp(app.createdAt),
    updated_at: stamp(app.updatedAt),
    links: {
      self: { href: `${origin}/v3/processes/${app.guid}` },
      app: { href: `${origin}/v3/apps/${app.guid}` },
      space: { href: `${origin}/v3/spaces/${SPACE.guid}` },
      stats: { href: `${origin}/v3/apps/${app.guid}/processes/web/stats` },
    },
  };
}

/** The platform sees whether a process runs, not whether the application works. */
export function presentStats({ process, state }: LabApp): object {
  const alive = process?.running === true ? process : undefined;
  const { report } = alive ?? {};
  const word = report !== undefined ? 'RUNNING' : alive !== undefined ? 'STARTING' : 'DOWN';
  const uptime = alive === undefined ? 0 : Math.floor((Date.now() - alive.startedAt.getTime()) / 1000);
  return {
    type: 'web',
    index: 0,
    state: state === 'STARTED' && process?.running === false ? 'CRASHED' : word,
    uptime,
    ...(report === undefined
      ? {}
      : { host: '127.0.0.1', instance_ports: [{ external: report.port, internal: report.port }] }),
    mem_quota: 64 * 1024 * 1024,
    disk_quota: 64 * 1024 * 1024,
    fds_quota: 1024,
    isolation_segment: null,
    details: null,
  };
}

export function presentPackage({ guid, app, createdAt }: Package, origin: string): object {
  const at = stamp(createdAt);
  return {
    guid,
    type: 'bits',
    data: { checksum: { type: 'sha256', value: null }, error: null },
    state: 'READY',
    created_at: at,
    updated_at: at,
    relationships: { app: { data: { guid: app.guid } } },
    metadata: NO_METADATA,
    links: {
      self: { href: `${origin}/v3/packages/${guid}` },
      app: { href: `${origin}/v3/apps/${app.guid}` },
    },
  };
}

export function presentDroplet(droplet: Droplet, origin: string): object {
  const { guid, app, checksum, createdAt } = droplet;
  const at = stamp(createdAt);
  return {
    guid,
    state: 'STAGED',
    error: null,
    lifecycle: { type: 'buildpack', data: {} },
    execution_metadata: '',
    process_types: { web: 'node sample-app' },
    checksum: { type: 'sha256', value: checksum },
    buildpacks: [{ name: 'nodejs_buildpack', detect_output: 'nodejs', version: null, buildpack_name: null }],
    stack: LIFECYCLE.data.stack,
    image: null,
    created_at: at,
    updated_at: at,
    relationships: { app: { data: { guid: app.guid } } },
    metadata: NO_METADATA,
    links: {
      self: { href: `${origin}/v3/droplets/${guid}` },
      package: { href: `${origin}/v3/packages/${droplet.package.guid}` },
      app: { href: `${origin}/v3/apps/${app.guid}` },
      assign_current_droplet: {
        href: `${origin}/v3/apps/${app.guid}/relationships/current_droplet`,
        method: 'PATCH',
      },
    },
  };
}

export function presentBuild(build: Build, origin: string): object {
  const { guid, droplet, metadata, state, error } = build;
  const { app } = build.package;
  return {
    guid,
    created_at: stamp(build.createdAt),
    updated_at: stamp(build.updatedAt),
    state,
    error: error ?? null,
    lifecycle: LIFECYCLE,
    package: { guid: build.package.guid },
    droplet:
      droplet === undefined ? null : { guid: droplet.guid, href: `${origin}/v3/droplets/${droplet.guid}` },
    relationships: { app: { data: { guid: app.guid } } },
    metadata,
    links: { self: { href: `${origin}/v3/builds/${guid}` }, app: { href: `${origin}/v3/apps/${app.guid}` } },
  };
}

export function presentDeployment(deployment: Deployment, origin: string): object {
  const { guid, value, reason, error, healthyAt, updatedAt, previousDroplet, app, metadata } = deployment;
  const self = `${origin}/v3/deployments/${guid}`;
  const cancel = { cancel: { href: `${self}/actions/cancel`, method: 'POST' } };
  return {
    guid,
    status: {
      value,
      reason,
      details: {
        last_successful_healthcheck: healthyAt === undefined ? null : stamp(healthyAt),
        last_status_change: stamp(updatedAt),
        ...(error === undefined ? {} : { error }),
      },
    },
    strategy: 'rolling',
    options: { max_in_flight: deployment.maxInFlight },
    droplet: { guid: deployment.droplet.guid },
    previous_droplet: { guid: previousDroplet ?? null },
    new_processes: [{ guid: app.guid, type: 'web' }],
    created_at: stamp(deployment.createdAt),
    updated_at: stamp(updatedAt),
    metadata,
    relationships: { app: { data: { guid: app.guid } } },
    links: {
      self: { href: self },
      app: { href: `${origin}/v3/apps/${app.guid}` },
      ...(value === 'ACTIVE' ? cancel : {}),
    },
  };
}

/** Another route shows the credentials. */
export function presentBinding(binding: CredentialBinding, origin: string): object {
  const { guid, type, name, createdAt, updatedAt, operation, app, instance, metadata } = binding;
  const self = `${origin}/v3/service_credential_bindings/${guid}`;
  return {
    guid,
    type,
    name,
    created_at: stamp(createdAt),
    updated_at: stamp(updatedAt),
    last_operation: presentOperation(operation),
    metadata,
    relationships: {
      ...(app === undefined ? {} : { app: { data: { guid: app.guid } } }),
      service_instance: { data: { guid: instance.guid } },
    },
    links: {
      self: { href: self },
      details: { href: `${self}/details` },
      parameters: { href: `${self}/parameters` },
      service_instance: { href: `${origin}/v3/service_instances/${instance.guid}` },
      ...(app === undefined ? {} : { app: { href: `${origin}/v3/apps/${app.guid}` } }),
    },
  };
}

/** The dashboard address is that of the service's own API. */
export function presentInstance(instance: LabInstance, origin: string): object {
  const { guid, name, createdAt } = instance;
  const self = `${origin}/v3/service_instances/${guid}`;
  const at = stamp(createdAt);
  return {
    guid,
    created_at: at,
    updated_at: at,
    name,
    tags: [],
    type: 'managed',
    maintenance_info: { version: '1.0.0' },
    upgrade_available: false,
    dashboard_url: `${origin}/service-instances/${guid}`,
    last_operation: {
      type: 'create',
      state: 'succeeded',
      description: 'Operation succeeded',
      updated_at: at,
      created_at: at,
    },
    relationships: { service_plan: { data: { guid: PLAN_GUID } }, space: { data: { guid: SPACE.guid } } },
    metadata: NO_METADATA,
    links: {
      self: { href: self },
      service_plan: { href: `${origin}/v3/service_plans/${PLAN_GUID}` },
      space: { href: `${origin}/v3/spaces/${SPACE.guid}` },
      parameters: { href: `${self}/parameters` },
      service_credential_bindings: {
        href: `${origin}/v3/service_credential_bindings?service_instance_guids=${guid}`,
      },
    },
  };
}

function presentOperation({ type, state, description, createdAt, updatedAt }: BindingOperation): object {
  return { type, state, description, created_at: stamp(createdAt), updated_at: stamp(updatedAt) };
}

/** The lab's one service on the platform. */
const OFFERING = 'lifeboat-postgresql';
const PLAN = 'single';
const PLAN_GUID = PLAN_ID;

/**
 * As JSON: of several bindings to one instance only the newest (Cloud Foundry RFC 0040). Newest first, so
 * that an application uses the instance that it was bound to last.
 */
export function vcapServices(app: LabApp, bindings: readonly CredentialBinding[]): Secret {
  const usable = bindings.filter((binding) => binding.app === app && isUsable(binding)).toReversed();
  const newest = usable.filter(
    ({ instance }, at) => usable.findIndex((other) => other.instance === instance) === at,
  );
  if (newest.length === 0) return new Secret('{}');
  return new Secret(`{${JSON.stringify(OFFERING)}:[${newest.map(entryOf).join(',')}]}`);
}

/** Until it is removed, also after a failed removal. */
function isUsable({ operation, made }: CredentialBinding): boolean {
  return made !== undefined && (operation.type === 'delete' || operation.state === 'succeeded');
}

function entryOf({ guid, name, instance, made }: CredentialBinding): string {
  const entry = JSON.stringify({
    label: OFFERING,
    plan: PLAN,
    tags: ['postgresql'],
    name: name ?? instance.name,
    instance_name: instance.name,
    instance_guid: instance.guid,
    binding_guid: guid,
    binding_name: name,
    syslog_drain_url: null,
    volume_mounts: [],
  });
  return `${entry.slice(0, -1)},"credentials":${made?.credentials.reveal() ?? '{}'}}`;
}
