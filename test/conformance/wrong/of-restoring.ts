import { randomUUID } from 'node:crypto';
import { MIN_KEY_LENGTH } from '../../bench-kit/foreign/spell.ts';
import {
  accepting,
  eachMissing,
  given,
  inBody,
  type Json,
  ok,
  onSuccess,
  routeOf,
  shifted,
  without,
} from './change.ts';
import type { Mutation } from './server.ts';

const RESTORE = 'POST /backups/:id/restore';
const LIST = 'GET /restores';
const ONE = 'GET /restores/:id';
const PREPARE = 'POST /disaster-recovery/prepare';
const PERFORM = 'POST /disaster-recovery/perform';
const PITR = 'GET /pitr';
const TO_TIME = 'POST /pitr/restore';
const FIELDS = ['id', 'backup_id', 'status', 'metadata', 'triggered_at', 'finished_at'];
const ENDS = ['restores.restore', 'pitr.restore', 'recovery.perform', 'recovery.prepare-key'];

/** Wrong in what it does with restores and with the instance. */
export const OF_RESTORING: readonly Mutation[] = [
  {
    what: 'wraps the list of restores',
    after: onSuccess(LIST, ({ body }) => ok({ restores: body })),
    caughtBy: ['restores.list', 'restores.restore'],
  },
  ...eachMissing(LIST, FIELDS, 'restores.list'),
  {
    what: 'lists a restore twice',
    after: onSuccess(LIST, ({ body }) => ok([...(body as Json[]), ...(body as Json[])])),
    caughtBy: ['restores.list'],
  },
  {
    what: 'restores from a time without a zone',
    after: inBody(LIST, (body) => ({ ...body, metadata: { restored_from: '2026-01-01T00:00:00' } })),
    caughtBy: ['restores.list'],
  },
  {
    what: 'has restores that finished before they began',
    after: inBody(LIST, (body) => ({ ...body, finished_at: shifted(body['triggered_at'], -1) })),
    caughtBy: ['restores.list'],
  },
  ...eachMissing(ONE, FIELDS, 'restores.get-one'),
  {
    what: 'looks different by itself',
    after: inBody(ONE, (body) => ({ ...body, finished_at: shifted(body['finished_at'], 1) })),
    caughtBy: ['restores.get-one'],
  },
  { what: 'restores without an id', after: inBody(RESTORE, without('id')), caughtBy: ['restores.restore'] },
  {
    what: 'restores with 201',
    after: onSuccess(RESTORE, ({ body }) => ok(body, 201)),
    caughtBy: ['restores.restore'],
  },
  {
    what: 'does not list restores',
    after: onSuccess(LIST, () => ok([])),
    caughtBy: ['restores.restore', 'pitr.restore', 'recovery.perform'],
  },
  {
    what: 'fails every restore',
    after: inBody(ONE, (body) => ({ ...body, status: 'failed' })),
    caughtBy: ENDS,
  },
  {
    what: 'never ends a restore',
    after: inBody(ONE, (body) => ({ ...body, status: 'running' })),
    caughtBy: ['restores.restore'],
  },
  {
    what: 'names another backup',
    after: inBody(ONE, (body) => ({ ...body, backup_id: 1 })),
    caughtBy: ['restores.restore'],
  },
  {
    what: 'says that it restored from a moment after now',
    after: inBody(ONE, (body) => ({ ...body, metadata: { restored_from: shifted(new Date(), 1000) } })),
    caughtBy: ['restores.restore', 'pitr.restore'],
  },

  {
    what: 'has a range that ends before it begins',
    after: inBody(PITR, ({ start_time, end_time }) => ({ start_time: end_time, end_time: start_time })),
    caughtBy: ['pitr.range'],
  },
  {
    what: 'has a range into the future',
    after: inBody(PITR, (body) => ({ ...body, end_time: shifted(new Date(), 3_600_000) })),
    caughtBy: ['pitr.range'],
  },
  ...eachMissing(PITR, ['start_time', 'end_time'], 'pitr.range'),
  {
    what: 'has a range without archiving',
    standard: true,
    after: accepting(PITR, ok({ start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' })),
    caughtBy: ['pitr.range-standard'],
  },
  {
    what: 'restores to a time without archiving',
    standard: true,
    revision: 62,
    after: accepting(TO_TIME, ok({ status: 'queued' }, 202)),
    caughtBy: ['pitr.restore-standard'],
  },
  {
    what: 'takes every time',
    revision: 62,
    after: accepting(TO_TIME, ok({ status: 'queued' }, 202)),
    caughtBy: ['pitr.early', 'pitr.late', 'pitr.no-time', 'pitr.no-target'],
  },
  {
    what: 'restores to a time with 200',
    revision: 62,
    after: onSuccess(TO_TIME, ({ body }) => ok(body)),
    caughtBy: ['pitr.restore'],
  },
  {
    what: 'restores to a time without a status',
    revision: 62,
    after: inBody(TO_TIME, without('status')),
    caughtBy: ['pitr.restore'],
  },

  {
    what: 'gives a new GUID each time',
    after: inBody(PREPARE, () => ({ backup_guid: randomUUID() })),
    caughtBy: ['recovery.prepare'],
  },
  {
    what: 'gives a GUID that is none',
    after: inBody(PREPARE, () => ({ backup_guid: 'backups-of-orders' })),
    caughtBy: ['recovery.prepare'],
  },
  {
    what: 'prepares with any key',
    before: given(PREPARE, ({ encryption_key, ...body }) =>
      String(encryption_key).length < MIN_KEY_LENGTH ? body : { ...body, encryption_key },
    ),
    caughtBy: ['recovery.prepare-short-key'],
  },
  {
    what: 'performs without knowing what',
    after: accepting(PERFORM, ok({ restore_id: 1 })),
    caughtBy: ['recovery.missing.backup_guid', 'recovery.missing.encryption_key'],
  },
  ...[
    'recovery.unknown-guid',
    'recovery.wrong-key',
    'recovery.missing.backup_guid',
    'recovery.missing.encryption_key',
  ].map(performsAnything),
  {
    what: 'performs with any key',
    before: (call, { instances }) =>
      routeOf(call) === PERFORM
        ? { ...call, body: { ...call.body, encryption_key: instances[0]?.keys.at(-1) } }
        : call,
    caughtBy: ['recovery.wrong-key'],
  },
  {
    what: 'gives a text as restore_id',
    after: inBody(PERFORM, (body) => ({ restore_id: String(body['restore_id']) })),
    caughtBy: ['recovery.perform'],
  },
  {
    what: 'prepares without setting the key',
    before: given(PREPARE, without('encryption_key')),
    caughtBy: ['recovery.prepare-key'],
  },

  ...['restart', 'recreate'].map((name): Mutation => accepted(name, `PATCH /${name}`)),
  accepted('update', 'PATCH /updates'),
  {
    what: 'has failed after each operation',
    after: inBody('GET /', (body) => ({ ...body, state: 'failed' })),
    caughtBy: ['operations.restart', 'operations.recreate', 'operations.update'],
  },
  {
    what: 'never stops deploying',
    after: inBody('GET /', (body) => ({ ...body, state: 'deploying' })),
    caughtBy: ['operations.restart'],
  },
  anotherInstance(),
  {
    what: 'updates to any service',
    after: accepting('PATCH /updates', ok({}, 202)),
    caughtBy: ['operations.update-no-service'],
  },
  {
    what: 'edits another instance',
    revision: 61,
    after: inBody('PATCH /broker/edit', (body) => ({ ...body, id: randomUUID() })),
    caughtBy: ['operations.broker-edit'],
  },
  {
    what: 'edits nothing',
    revision: 61,
    after: inBody('PATCH /broker/edit', (body) => ({
      ...body,
      allowed_update_time: { type: 'general', allowed: true },
    })),
    caughtBy: ['operations.broker-edit'],
  },
  {
    what: 'takes every setting',
    revision: 61,
    after: accepting('PATCH /broker/edit', ok({})),
    caughtBy: ['operations.broker-edit-type'],
  },
];

function accepted(name: string, route: string): Mutation {
  return {
    what: `answers ${name} with 204`,
    after: onSuccess(route, () => ({ status: 204, body: '' })),
    caughtBy: [`operations.${name}`],
  };
}

/**
 * The restore that it makes of an unknown GUID is done. While it is under way, revision 61 refuses another.
 */
function performsAnything(check: string): Mutation {
  return {
    what: `performs with any GUID, as ${check} finds`,
    before: (call, { instances }) => {
      const body: Json = { backup_guid: instances[0]?.backupGuid, encryption_key: instances[0]?.keys.at(-1) };
      return routeOf(call) === PERFORM ? { ...call, body } : call;
    },
    caughtBy: [check],
  };
}

/** A recreation that gives the instance another id. */
function anotherInstance(): Mutation {
  const recreated = new WeakSet<object>();
  const renamed = inBody('GET /', (body) => ({ ...body, id: 99 }));
  return {
    what: 'is another instance after it was recreated',
    after: (answer, call, service) => {
      if (routeOf(call) === 'PATCH /recreate') recreated.add(service);
      return recreated.has(service) ? renamed(answer, call, service) : answer;
    },
    caughtBy: ['operations.recreate'],
  };
}
