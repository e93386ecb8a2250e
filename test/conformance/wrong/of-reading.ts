import { ENDPOINTS, type Endpoint, UNKNOWN } from '../endpoints.ts';
import { eachMissing, inBody, type Json, ok, onSuccess, routeOf, shifted } from './change.ts';
import type { Mutation } from './server.ts';

const HOUR = 3_600_000;
const BACKUP = ['id', 'backup_id', 'size', 'status', 'triggered_at', 'finished_at', 'downloadable'];
const CONFIG = [
  'min_backup_count',
  'retention_time',
  'min_encryption_key_length',
  'exclude_from_auto_backup',
  'backup_type',
];
const OVERVIEW = [
  'available_updates',
  'created_at',
  'id',
  'name',
  'plan_id',
  'service_id',
  'state',
  'subtenant_id',
  'subtenant_name',
  'tenant_id',
  'tenant_name',
  'updated_at',
  'urls',
];
const LIST = 'GET /backups';
const naive = (time: unknown) => String(time).replace('Z', '');
const local = (time: unknown) => String(time).replace('Z', '+02:00');

function wrong(what: string, route: string, caughtBy: string, change: (body: Json) => Json): Mutation {
  return { what: `answers ${route} with ${what}`, after: inBody(route, change), caughtBy: [caughtBy] };
}

/** Wrong in what it shows. */
export const OF_READING: readonly Mutation[] = [
  ...Object.values<Endpoint>(ENDPOINTS).flatMap(({ method, path, promises }) =>
    promises === undefined
      ? []
      : wrong('none of its fields', `${method} ${path(UNKNOWN) || '/'}`, promises.id, () => ({})),
  ),

  ...eachMissing('GET /', OVERVIEW, 'overview.read'),
  wrong('a state of another table', 'GET /', 'overview.read', (body) => ({ ...body, state: 'running' })),
  wrong('a link without a host', 'GET /', 'overview.read', (body) => ({
    ...body,
    urls: [{ display_name: 'x', id: 'x', link: '/x' }],
  })),
  wrong('a local time', 'GET /', 'overview.read', (body) => ({
    ...body,
    created_at: local(body['created_at']),
  })),
  wrong('an id as a text', 'GET /', 'overview.read', (body) => ({ ...body, id: '7' })),
  wrong('an update before the creation', 'GET /', 'overview.times', (body) => ({
    ...body,
    updated_at: shifted(body['updated_at'], -HOUR),
  })),
  wrong('an update in the future', 'GET /', 'overview.times', (body) => ({
    ...body,
    updated_at: shifted(new Date(), HOUR),
  })),

  ...eachMissing('GET /backups-config', CONFIG, 'config.read'),
  wrong('an unknown backup_type', 'GET /backups-config', 'config.read', (body) => ({
    ...body,
    backup_type: 'full',
  })),
  wrong('the key', 'GET /backups-config', 'config.read', (body) => ({
    ...body,
    encryption_key: 'the-first-key',
  })),
  wrong('a key that is hidden by stars', 'GET /backups-config', 'config.read', (body) => ({
    ...body,
    encryption_key: '***',
  })),
  wrong('a negative limit', 'GET /backups-config', 'config.read', (body) => ({
    ...body,
    retention_time: -1,
  })),

  ...eachMissing(LIST, BACKUP, 'backups.list'),
  {
    ...wrong('no started_at', LIST, 'backups.list', ({ started_at: _, ...body }) => body),
    revision: 61,
  },
  wrong('times without a zone', LIST, 'backups.list', (body) => ({
    ...body,
    triggered_at: naive(body['triggered_at']),
  })),
  wrong('times in seconds', LIST, 'backups.list', (body) => ({ ...body, finished_at: 1_700_000_000 })),
  wrong('a status of another table', LIST, 'backups.list', (body) => ({ ...body, status: 'finished' })),
  wrong('no end of what has ended', LIST, 'backups.list', (body) => ({ ...body, finished_at: null })),
  wrong('a size with a unit', LIST, 'backups.list', (body) => ({ ...body, size: '208 B' })),
  {
    what: 'wraps the list of backups',
    after: onSuccess(LIST, ({ body }) => ok({ backups: body })),
    caughtBy: ['backups.list'],
  },
  {
    what: 'lists two backups that are stored as one',
    after: onSuccess(LIST, ({ body }) =>
      ok((body as Json[]).flatMap((one) => [one, { ...one, id: Number(one['id']) + 1000 }])),
    ),
    caughtBy: ['backups.ids'],
  },
  {
    what: 'lists a backup twice',
    after: onSuccess(LIST, ({ body }) => ok([...(body as Json[]), ...(body as Json[])])),
    caughtBy: ['backups.ids'],
  },
  wrong('backups triggered after they were finished', LIST, 'backups.times', (body) => ({
    ...body,
    triggered_at: shifted(body['finished_at'], 1),
  })),
  wrong('backups finished in the future', LIST, 'backups.times', (body) => ({
    ...body,
    finished_at: shifted(new Date(), HOUR),
  })),
  wrong('backups that can be downloaded before they are done', LIST, 'backups.downloadable', (body) => ({
    ...body,
    status: 'running',
    downloadable: true,
  })),
  wrong('another size than in the list', 'GET /backups/:id', 'backups.get-one', (body) => ({
    ...body,
    size: 7,
  })),
  wrong('another time than in the list', 'GET /backups/:id', 'backups.get-one', (body) => ({
    ...body,
    triggered_at: shifted(body['triggered_at'], -1),
  })),
  ...eachMissing(
    'GET /backups/:id',
    BACKUP.filter((field) => field !== 'backup_id'),
    'backups.get-one',
  ),
  {
    ...wrong('no backup_id', 'GET /backups/:id', 'backups.get-one', ({ backup_id: _, ...body }) => body),
    revision: 61,
  },

  ...(
    ['GET /backups/:id/download', 'v0 GET /backups/:id/download', 'v0 POST /backups/:id/download'] as const
  ).flatMap(downloads),
  {
    what: 'sends V1 downloads somewhere else',
    revision: 62,
    after: (answer, call) =>
      routeOf(call) === 'GET /backups/:id/download'
        ? { status: 302, body: {}, headers: { location: '/' } }
        : answer,
    caughtBy: ['download.not-in-62'],
  },

  metrics('metrics in milliseconds', 'metrics.points', (lines) => lines.map((line) => `${line}000`)),
  metrics('metrics with a comma', 'metrics.points', (lines) => lines.map((line) => line.replace(' ', ','))),
  metrics('metrics without an index', 'metrics.points', (lines) =>
    lines.map((line) => line.replace(/\.\d+\./, '.')),
  ),
  metrics('metrics of no known path', 'metrics.points', (lines) =>
    lines.map((line) => line.replace(/\.(\d+)\.\S+/, '.$1.x')),
  ),
  {
    what: 'shows metrics as objects',
    after: onSuccess('GET /metrics', () => ok([{ value: 1 }])),
    caughtBy: ['metrics.points'],
  },
  {
    what: 'takes no heed of quantity',
    before: (call) => ({ ...call, query: new URLSearchParams() }),
    caughtBy: ['metrics.quantity', 'metrics.quantity-limit'],
  },
  metrics('the oldest metrics instead of the latest', 'metrics.quantity', (lines, quantity) =>
    quantity === undefined
      ? lines
      : lines.map((line) => line.replace(/\d+$/, (at) => String(Number(at) - 31))),
  ),
  {
    what: 'breaks over a quantity of 0',
    after: (answer, call) => (call.query.get('quantity') === '0' ? { ...answer, status: 500 } : answer),
    caughtBy: ['metrics.quantity-limit'],
  },
];

function downloads(route: string): readonly Mutation[] {
  const base = route.startsWith('GET') ? 'v1' : route.includes('POST') ? 'v0-post' : 'v0-base';
  const caughtBy = [`download.${base}`];
  return [
    {
      what: `answers ${route} with a page`,
      after: onSuccess(route, () => ok('<h1>Please log in</h1>')),
      caughtBy,
    },
    {
      what: `answers ${route} with half a backup`,
      after: onSuccess(route, ({ body }) => ok((body as Buffer).subarray(0, 50))),
      caughtBy,
    },
    { what: `answers ${route} with 202`, after: onSuccess(route, ({ body }) => ok(body, 202)), caughtBy },
  ].map((mutation): Mutation => (base === 'v1' ? { ...mutation, revision: 61 } : mutation));
}

function metrics(
  what: string,
  caughtBy: string,
  change: (lines: readonly string[], quantity: string | undefined) => readonly string[],
): Mutation {
  const after = onSuccess('GET /metrics', ({ body }, call) =>
    ok(change(body as readonly string[], call.query.get('quantity') ?? undefined)),
  );
  return { what: `shows ${what}`, after, caughtBy: [caughtBy] };
}
