import * as z from 'zod';
import type { LabInstance, UpkeepAction } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import { SUBTENANT, TENANT } from '../landscape.ts';
import { type Endpoint, jsonEndpoint, Refusal } from './endpoint.ts';
import { Accepted, Metrics, Overview, UpdateSetting } from './wire.ts';

/** Section 4.1, endpoint 12. */
export const overviewEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    path: '/',
    name: 'getInstance',
    summary: 'Shows what the instance is, and the state that it is in.',
    result: Overview,
    answers: { 61: 200, 62: 200 },
    work: ({ instance, state }) => ({
      id: instance.id,
      name: instance.name,
      state: instance.state,
      plan_id: instance.facts.planId,
      service_id: instance.facts.serviceId,
      created_at: instance.createdAt.toISOString(),
      updated_at: instance.updatedAt.toISOString(),
      subtenant_id: SUBTENANT.id,
      subtenant_name: SUBTENANT.name,
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

/** Section 4.1, endpoints 13 to 16, and `broker/edit` of revision 61 (4.2 item 6). */
export const upkeepEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'PATCH',
    path: '/recreate',
    name: 'recreateInstance',
    summary: 'Begins to recreate the process of the instance; its data stays.',
    result: Accepted,
    answers: { 61: 202, 62: 202 },
    refuses: { 61: [409] },
    work: ({ instance, state, record }) => begin(state, instance, 'recreate', record),
  }),
  jsonEndpoint({
    method: 'PATCH',
    path: '/restart',
    name: 'restartInstance',
    summary: 'Begins to restart the instance.',
    result: Accepted,
    answers: { 61: 202, 62: 202 },
    refuses: { 61: [409] },
    work: ({ instance, state, record }) => begin(state, instance, 'restart', record),
  }),
  jsonEndpoint({
    method: 'PATCH',
    path: '/updates',
    name: 'updateInstance',
    summary: 'Begins to apply the pending maintenance updates.',
    result: Accepted,
    answers: { 61: 202, 62: 202 },
    refuses: { 61: [409] },
    body: z.object({ service_id: z.string() }),
    examples: { request: { service_id: 'e5d1f0a2-6b43-4c8e-9d21-7a30c5b9f614' } },
    work: ({ instance, body, state, record }) => {
      if (body.service_id !== instance.facts.serviceId) {
        throw new Refusal(422, 'invalidParameters', 'service_id: the instance is of another service');
      }
      // Section 4.2 item 6 leaves open how forbidden updates show: here also to who triggers one.
      if (!instance.upkeep.setting.allowed) {
        throw new Refusal(
          422,
          'maintenanceUpdatesForbidden',
          'maintenance updates of the instance are forbidden',
        );
      }
      return begin(state, instance, 'update', record);
    },
  }),
  jsonEndpoint({
    method: 'PATCH',
    path: '/broker/edit',
    name: 'editBroker',
    summary: 'Allows or forbids maintenance updates, triggered ones too.',
    result: z.object({ allowed_update_time: UpdateSetting, id: z.guid() }),
    answers: { 61: 200 },
    body: z.object({ allowed_update_time: UpdateSetting }),
    examples: { request: { allowed_update_time: { type: 'general', allowed: false } } },
    work: ({ instance, body: { allowed_update_time }, state, record }) => {
      if (!state.settings.updateBlocking) throw new Refusal(404, 'notFound', 'there is no such endpoint');
      instance.changeUpdateSetting(allowed_update_time);
      record({ ...allowed_update_time });
      return { allowed_update_time, id: instance.guid };
    },
  }),
  jsonEndpoint({
    method: 'GET',
    path: '/metrics',
    name: 'getMetrics',
    summary: 'Shows the latest data points, oldest first.',
    result: Metrics,
    answers: { 61: 200, 62: 200 },
    query: z.object({
      quantity: z
        .string()
        .regex(/^0*[1-9]\d*$/, 'must be a whole number of at least 1')
        .transform(Number)
        .optional(),
    }),
    examples: { answer: ['postgresql.0.system.load.load1 0.12 1619000000'] },
    work: ({ instance, query }) => [...instance.metrics.points(query.quantity)],
  }),
];

/** Revision 61 answers 409 while the same action is in progress; revision 62 queues another one. */
function begin(
  state: LabState,
  instance: LabInstance,
  action: UpkeepAction,
  record: (detail: Record<string, string>) => void,
) {
  if (state.revision === 61 && instance.upkeep.isDoing(action)) {
    throw new Refusal(409, `${action}InProgress`, `this ${action} is already in progress`);
  }
  instance.upkeep.begin(action);
  record({ action });
  return { message: `The ${action} has been accepted.` };
}
