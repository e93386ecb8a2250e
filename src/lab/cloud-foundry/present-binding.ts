import { Secret } from '../../base/secret.ts';
import type { LabInstance } from '../instance.ts';
import { PLAN_ID, SPACE } from '../landscape.ts';
import type { BindingOperation, CredentialBinding } from './credential-bindings.ts';
import type { LabApp } from './lab-app.ts';
import { NO_METADATA, stamp } from './metadata.ts';

/** A binding as the platform's API shows it; another route shows its credentials. */
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

/** A service instance as the platform shows it: the service's own API hangs on its dashboard address. */
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

/** What the lab's one service is called on the platform. */
const OFFERING = 'lifeboat-postgresql';
const PLAN = 'single';
const PLAN_GUID = PLAN_ID;

/**
 * VCAP_SERVICES of an application at this moment, as JSON: of several bindings to one instance only the
 * newest is in it (Cloud Foundry RFC 0040). Newest first, so that an application that was bound to another
 * instance uses that one.
 */
export function vcapServices(app: LabApp, bindings: readonly CredentialBinding[]): Secret {
  const usable = bindings.filter((binding) => binding.app === app && isUsable(binding)).toReversed();
  const newest = usable.filter(
    ({ instance }, at) => usable.findIndex((other) => other.instance === instance) === at,
  );
  if (newest.length === 0) return new Secret('{}');
  return new Secret(`{${JSON.stringify(OFFERING)}:[${newest.map(entryOf).join(',')}]}`);
}

/** A binding opens what it opens until it is gone, also when its removal has failed. */
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
