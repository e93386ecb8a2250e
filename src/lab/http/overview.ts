import { PLAN_ID, SERVICE_ID, SPACE, TENANT } from '../landscape.ts';
import { type Endpoint, jsonReply } from './endpoint.ts';

/** Section 2.4. */
export const overviewEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    base: '/v1/instances',
    path: '/',
    errors: 'v1',
    carryOut: ({ instance, origin }) =>
      jsonReply(200, {
        id: instance.id,
        name: instance.name,
        state: instance.database.running ? 'provisioned' : 'failed',
        plan_id: PLAN_ID,
        service_id: SERVICE_ID,
        created_at: instance.createdAt.toISOString(),
        updated_at: instance.updatedAt.toISOString(),
        subtenant_id: SPACE.id,
        subtenant_name: SPACE.name,
        tenant_id: TENANT.id,
        tenant_name: TENANT.name,
        available_updates: [],
        urls: [
          {
            id: 'dashboard',
            display_name: 'Service Dashboard',
            link: `${origin}/service-instances/${instance.guid}`,
          },
        ],
      }),
  },
];
