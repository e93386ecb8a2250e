import { Secret } from '../../base/secret.ts';
import { PLAN_ID } from '../landscape.ts';
import type { CredentialBinding } from './credential-bindings.ts';
import type { LabApp } from './lab-app.ts';

/** What the lab's one service is called on the platform. */
const OFFERING = 'lifeboat-postgresql';
const PLAN = 'single';
export const PLAN_GUID = PLAN_ID;

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
