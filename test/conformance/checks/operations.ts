import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, type Endpoint, isKeptBack, KEPT_BACK, UNKNOWN } from '../endpoints.ts';
import { ensure, expectBody, expectRefusal } from '../expect.ts';
import { followState } from '../follow.ts';
import { accepted, readOverview } from '../reads.ts';
import { Edited } from '../shapes.ts';
import type { Subject } from '../subject.ts';

/** Sections 4.1 (13) to (15) and 4.2 (6). */
export const OPERATIONS: readonly Check[] = [
  {
    id: 'operations.broker-edit',
    section: '4.2 (6)',
    title: 'maintenance updates are forbidden and allowed again; the answer has the setting and the id',
    // Before the update, which may be refused while updates are forbidden. The setting cannot be read, so
    // updates are allowed afterwards, whatever they were before.
    needs: { level: 'all', revisions: [61] },
    run: async (subject) => {
      for (const allowed of [false, true]) {
        const allowed_update_time = { type: 'general', allowed };
        const exchange = await call(subject.api, ENDPOINTS.brokerEdit, UNKNOWN, { allowed_update_time });
        if (isKeptBack(ENDPOINTS.brokerEdit, exchange)) skip(KEPT_BACK);
        const edited = expectBody(exchange, [200, 202], Edited);
        ensure(edited.id === subject.api.access.instance, 'id is not the id of the instance', exchange);
        const { type, allowed: now } = edited.allowed_update_time;
        ensure(type === 'general' && now === allowed, 'the setting is not the one that was sent', exchange);
      }
    },
  },
  {
    id: 'operations.broker-edit-type',
    section: '4.2 (6)',
    title: 'an update-time setting that is no boolean is refused',
    needs: { level: 'all', revisions: [61] },
    run: async (subject) => {
      const body = { allowed_update_time: { type: 'general', allowed: 'on sundays' } };
      const exchange = await call(subject.api, ENDPOINTS.brokerEdit, UNKNOWN, body);
      ensure(exchange.status >= 400 && exchange.status < 500, `answers ${exchange.status}`, exchange);
    },
  },
  operation(ENDPOINTS.restart, 'a restart'),
  operation(ENDPOINTS.recreate, 'a recreation'),
  operation(ENDPOINTS.update, 'an update', async (subject) => {
    const { value } = await readOverview(subject);
    return { service_id: value.service_id };
  }),
  {
    id: 'operations.update-no-service',
    section: '4.1 (15)',
    title: 'an update whose service_id is no text is refused',
    needs: { level: 'all' },
    run: async (subject) => {
      await followState(subject);
      expectRefusal(await call(subject.api, ENDPOINTS.update, UNKNOWN, { service_id: 7 }));
    },
  },
];

/** Success bodies are not shown by the document, so only the status and the end count. */
function operation(endpoint: Endpoint, what: string, body?: (subject: Subject) => Promise<unknown>): Check {
  return {
    id: `operations.${endpoint.name}`,
    section: endpoint.section,
    title: `${what} is accepted, and the instance is well in the end`,
    needs: { level: 'all' },
    run: async (subject) => {
      const before = await followState(subject);
      const sent = await body?.(subject);
      await accepted(subject, endpoint, sent === undefined ? {} : { body: sent });
      const after = await followState(subject);
      const { exchange } = await readOverview(subject);
      for (const field of ['id', 'name', 'plan_id', 'service_id', 'created_at'] as const) {
        ensure(before[field] === after[field], `${field} has changed`, exchange);
      }
    },
  };
}
