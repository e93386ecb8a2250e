import { SPACE, TENANT } from '../landscape.ts';
import { type Endpoint, jsonEndpoint } from './endpoint.ts';
import { Overview } from './wire.ts';

/** Section 4.1, endpoint 12. */
export const overviewEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    base: '/v1/instances',
    path: '/',
    name: 'getInstance',
    summary: 'Shows what the instance is, and the state that it is in.',
    result: Overview,
    answers: { 61: { status: 200 }, 62: { status: 200 } },
    work: ({ instance, state }) => ({
      id: instance.id,
      name: instance.name,
      state: instance.state,
      plan_id: instance.facts.planId,
      service_id: instance.facts.serviceId,
      created_at: instance.createdAt.toISOString(),
      updated_at: instance.updatedAt.toISOString(),
      subtenant_id: SPACE.id,
      subtenant_name: SPACE.name,
      tenant_id: TENANT.id,
      tenant_name: TENANT.name,
      available_updates: [...instance.upkeep.updates],
      urls: [
        {
          id: 'dashboard',
          display_name: 'Service Dashboard',
          link: `${state.origin}/service-instances/${instance.guid}`,
        },
      ],
    }),
  }),
];
