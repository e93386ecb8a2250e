import { accepting, eachMissing, inBody, type Json, ok, onSuccess, routeOf } from './change.ts';
import type { Mutation } from './server.ts';

const LIST = 'v0 GET /backups';
const CREATE = 'v0 POST /backups';
const RESTORE = 'v0 POST /backups/restore';

/** Changes the one task of every backup, or all tasks of every restore. */
function task(what: 'backups' | 'restores', change: (task: Json) => Json) {
  return inBody(LIST, (body) => ({
    ...body,
    [what]: (body[what] as Json[]).map((one) =>
      what === 'backups'
        ? { ...one, backup_agent_task: change(one['backup_agent_task'] as Json) }
        : { ...one, backup_agent_tasks: (one['backup_agent_tasks'] as Json[]).map(change) },
    ),
  }));
}

/** Wrong on the V0 base. */
export const OF_V0: readonly Mutation[] = [
  ...eachMissing(LIST, ['id', 'instance_id', 'backups', 'restores'], 'v0.listing'),
  {
    what: 'V0 lists another instance',
    after: inBody(LIST, (body) => ({ ...body, instance_id: 'another' })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 lists backups of another instance',
    after: inBody(LIST, (body) => ({ ...body, id: 99 })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 has task ids of its own',
    after: task('backups', (one) => ({ ...one, task_id: 1 })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 has an unknown status',
    after: task('backups', (one) => ({ ...one, status: 'ok' })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 has times without a zone',
    after: task('backups', (one) => ({ ...one, created_at: '2026-01-01T00:00:00' })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 creates a task after it is updated',
    after: task('backups', (one) => ({ ...one, updated_at: '2001-01-01T00:00:00.000Z' })),
    caughtBy: ['v0.listing'],
  },
  {
    what: 'V0 has ids of its own',
    after: inBody(LIST, (body) => ({
      ...body,
      backups: (body['backups'] as Json[]).map((one) => ({ ...one, id: Number(one['id']) + 1 })),
    })),
    caughtBy: ['v0.same-ids'],
  },
  {
    what: 'V0 sends to another origin',
    after: (answer) =>
      answer.status === 302 ? { ...answer, headers: { location: 'http://127.0.0.2:9/login' } } : answer,
    caughtBy: ['v0.listing', 'v0.session', 'v0.same-ids'],
  },
  {
    what: 'V0 redirects for ever',
    before: (call) => ({ ...call, cookie: undefined }),
    caughtBy: ['v0.listing', 'v0.session'],
  },
  {
    what: 'V0 redirects what changes things',
    after: (answer, call) =>
      routeOf(call) === CREATE && answer.status < 300
        ? { status: 302, body: {}, headers: { location: call.path } }
        : answer,
    caughtBy: ['v0.create'],
  },
  { what: 'V0 creates with 200', after: onSuccess(CREATE, ({ body }) => ok(body)), caughtBy: ['v0.create'] },
  {
    what: 'V0 creates without a message',
    after: onSuccess(CREATE, ({ body }) => ok({ id: (body as Json)['id'] }, 201)),
    caughtBy: ['v0.create'],
  },
  {
    what: 'V0 fails every backup',
    after: task('backups', (one) => ({
      ...one,
      status: one['status'] === 'done' ? 'failed' : one['status'],
    })),
    caughtBy: ['v0.create'],
  },
  {
    what: 'V0 restores with 201',
    after: onSuccess(RESTORE, ({ body }) => ok(body, 201)),
    caughtBy: ['v0.restore'],
  },
  {
    what: 'V0 fails every restore',
    after: task('restores', (one) => ({ ...one, status: 'failed' })),
    caughtBy: ['v0.restore'],
  },
  {
    what: 'V0 does not list restores',
    after: inBody(LIST, (body) => ({ ...body, restores: [] })),
    caughtBy: ['v0.restore'],
  },
  {
    what: 'V0 restores into whatever instance',
    after: accepting(RESTORE, ok({ restore_id: 1 })),
    caughtBy: ['v0.restore-mismatch', 'unknown.backup.v0-restore'],
  },
];
