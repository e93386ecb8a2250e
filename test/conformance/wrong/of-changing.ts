import type { ForeignServer } from '../../bench-kit/foreign/server.ts';
import {
  accepting,
  given,
  inBody,
  type Json,
  ok,
  onSuccess,
  routeOf,
  shifted,
  v1Error,
  without,
} from './change.ts';
import type { Call, Mutation } from './server.ts';

const HOUR = 3_600_000;
const SET = 'PATCH /backups-config';
const CREATE = 'POST /backups';
const LIST = 'GET /backups';
const ONE = 'GET /backups/:id';
const DONE = ok({ message: 'Done.' });

/** Wrong in what it does with the configuration and with backups. */
export const OF_CHANGING: readonly Mutation[] = [
  ...['min_backup_count', 'retention_time', 'exclude_from_auto_backup'].map(
    (field): Mutation => ({
      what: `does not set ${field}`,
      before: given(SET, without(field)),
      caughtBy: [`config.set.${field}`],
    }),
  ),
  setsMore(),
  {
    what: 'says nothing to a change',
    after: onSuccess(SET, () => ok({})),
    caughtBy: ['config.set.*', 'config.set-nothing', 'config.set-key'],
  },
  { what: 'takes every configuration', after: accepting(SET, DONE), caughtBy: ['config.invalid.*'] },
  {
    what: 'refuses a configuration with 400',
    after: (answer, call) =>
      routeOf(call) === SET && answer.status === 422 ? { ...answer, status: 400 } : answer,
    caughtBy: ['config.invalid.*'],
  },
  {
    what: 'sets the half that is right',
    before: (call, { instances }) => {
      const [instance] = instances;
      const half = call.body['retention_time'] === -1 && call.body['min_backup_count'] !== undefined;
      if (half && instance !== undefined)
        instance.settings.min_backup_count = Number(call.body['min_backup_count']);
      return call;
    },
    caughtBy: ['config.invalid.mixed'],
  },
  {
    what: 'does not set zero',
    after: (answer, call) =>
      routeOf(call) === SET && call.body['min_backup_count'] === 0 ? v1Error(422, 'tooFew') : answer,
    caughtBy: ['config.zero'],
  },
  {
    what: 'repeats the key',
    after: inBody(SET, (_, { body }) => ({ message: `The key is ${String(body['encryption_key'])}.` })),
    caughtBy: ['config.set-key'],
  },
  setsType(),

  driftsAway(),
  {
    what: 'creates without a message',
    after: inBody(CREATE, without('message')),
    caughtBy: ['backups.create'],
  },
  {
    what: 'creates with 201',
    after: onSuccess(CREATE, (answer) => ({ ...answer, status: 201 })),
    caughtBy: ['backups.create', 'backups.create-clock', 'backups.create-twice'],
  },
  {
    what: 'does not list what is not done',
    after: onSuccess(LIST, ({ body }) => ok((body as Json[]).filter(({ status }) => status === 'done'))),
    caughtBy: ['backups.create'],
  },
  {
    what: 'gives the id of the first backup',
    after: (answer, call, { instances }) =>
      routeOf(call) === CREATE ? ok({ id: instances[0]?.backups.at(-1)?.id, message: 'Queued.' }) : answer,
    caughtBy: ['backups.create', 'backups.create-twice'],
  },
  {
    what: 'fails every backup',
    after: inBody(ONE, (body) => ({ ...body, status: 'failed' })),
    caughtBy: ['backups.create', 'backups.create-twice'],
  },
  {
    what: 'never ends',
    after: inBody(ONE, (body) => ({ ...body, status: 'running' })),
    caughtBy: ['backups.create'],
  },
  {
    what: 'makes empty backups',
    after: inBody(ONE, (body) => ({ ...body, size: 0 })),
    caughtBy: ['backups.create'],
  },
  goesBack(),
  {
    what: 'has local times called UTC',
    after: inBody(LIST, (body) => ({ ...body, triggered_at: shifted(body['triggered_at'], -2 * HOUR) })),
    caughtBy: ['backups.create-clock'],
  },
  {
    what: 'says 409 in revision 62',
    revision: 62,
    after: (answer, call) => (routeOf(call) === CREATE ? v1Error(409, 'inProgress') : answer),
    caughtBy: ['backups.create', 'backups.create-twice'],
  },
  {
    what: 'says 409 without a word',
    revision: 61,
    after: (answer, call) => (routeOf(call) === CREATE ? { status: 409, body: {} } : answer),
    caughtBy: ['backups.create', 'backups.create-twice'],
  },
];

/** The first instance shows the type of backups that was set last. */
export function setsType(): Mutation {
  let type: unknown;
  const isOfFirst = ({ path }: Call, { instances: [first] }: ForeignServer) =>
    first !== undefined && path.includes(first.guid);
  const shown = inBody('GET /backups-config', (body) => ({ ...body, backup_type: type }));
  return {
    what: 'sets the type of backups',
    before: (call, service) => {
      if (routeOf(call) === SET && isOfFirst(call, service)) type = call.body['backup_type'] ?? type;
      return call;
    },
    after: (answer, call, service) =>
      type !== undefined && isOfFirst(call, service) ? shown(answer, call, service) : answer,
    caughtBy: ['config.read-only'],
  };
}

/** Another retention_time with each change. */
function setsMore(): Mutation {
  let days = 100;
  const before = given(SET, (body) => {
    days += 1;
    return { retention_time: days, ...body };
  });
  const caughtBy = ['config.set-nothing', 'config.set.min_backup_count'];
  return { what: 'sets more than it was asked to', before, caughtBy };
}

/** Another retention_time at each look. */
function driftsAway(): Mutation {
  let days = 7;
  const after = inBody('GET /backups-config', (body) => {
    days += 1;
    return { ...body, retention_time: days };
  });
  return { what: 'does not keep its configuration', after, caughtBy: ['changes.put-back'] };
}

/** Running first, then queued again. */
function goesBack(): Mutation {
  let looks = 0;
  const after = inBody(ONE, (body) => {
    looks += 1;
    return { ...body, status: looks % 2 === 1 ? 'running' : 'queued' };
  });
  return { what: 'goes from running to queued', after, caughtBy: ['backups.create'] };
}
