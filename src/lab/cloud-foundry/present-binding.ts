import type { LabInstance } from '../instance.ts';
import type { BindingOperation, CredentialBinding } from './credential-bindings.ts';
import { stamp } from './metadata.ts';
import { SPACE } from './places.ts';
import { PLAN_GUID } from './vcap.ts';

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

/**
 * A service instance as the platform's API shows it: its dashboard is the address that the service's own API
 * hangs on.
 */
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
    relationships: {
      service_plan: { data: { guid: PLAN_GUID } },
      space: { data: { guid: SPACE.guid } },
    },
    metadata: { labels: {}, annotations: {} },
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
