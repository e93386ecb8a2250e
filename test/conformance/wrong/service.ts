import {
  type Answer,
  backupOf,
  downloadError,
  listingOf,
  metrics,
  ok,
  overviewOf,
  restoreOf,
  v0Error,
  v1Error,
} from './answers.ts';
import {
  type Backup,
  type Instance,
  newBackup,
  newInstance,
  newRestore,
  READONLY_TOKEN,
  SERVICE_ID,
  TOKEN,
  tick,
} from './landscape.ts';

/** One request, as the routes see it. */
export interface Call {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** Without a scheme word. */
  readonly token: string | undefined;
  readonly cookie: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Service {
  readonly revision: 61 | 62;
  readonly instances: readonly Instance[];
  answer(call: Call): Answer;
}

const SESSION = 'session=conformance';

/**
 * The document's service as small as it can be: nothing is stored, and a restore restores nothing. It is the
 * right answer that the wrong servers of the tests are made from.
 */
export function makeService(revision: 61 | 62): Service {
  const source = newInstance('orders', 7, true);
  const instances = [source, newInstance('orders-dr', 8, false)];
  const backup = newBackup(source);
  newRestore(source, backup.id, backup.triggeredAt);
  tick(instances);
  tick(instances);
  const answer = (call: Call): Answer => {
    tick(instances);
    const [, v1] = call.path.split('/');
    const rest = call.path.replace(/^\/v1\/instances\/|^\/service-instances\//, '');
    const [guid, ...path] = rest.split('/');
    const instance = instances.find((candidate) => candidate.guid === guid);
    const route = `${call.method} /${path.map((part) => (/^\d+$/.test(part) ? ':id' : part)).join('/')}`;
    const frame = { call, route, id: Number(path[1]), revision, instances };
    return v1 === 'v1' ? answerV1(frame, instance) : answerV0(frame, instance);
  };
  return { revision, instances, answer };
}

interface Frame {
  readonly call: Call;
  readonly route: string;
  readonly id: number;
  readonly revision: 61 | 62;
  readonly instances: readonly Instance[];
}

function answerV1(frame: Frame, instance: Instance | undefined): Answer {
  const { call, route, id, revision } = frame;
  const { token, method, body } = call;
  const isKnown = token === TOKEN || token === READONLY_TOKEN;
  if (!isKnown && route === 'GET /backups/:id/download') return downloadError(401);
  if (!isKnown) return v1Error(401, 'notAuthenticated');
  if (token === READONLY_TOKEN && method !== 'GET') return v1Error(403, 'notAllowed');
  const backup = instance?.backups.find((candidate) => candidate.id === id);
  if (route === 'GET /backups/:id/download' && revision === 61) return download(backup, downloadError(412));
  if (instance === undefined) return v1Error(404, 'instanceNotFound');
  const archiving = instance.config.backup_type === 'continuous_archiving';
  switch (route) {
    case 'GET /':
      return ok(overviewOf(instance));
    case 'GET /backups':
      return ok(instance.backups.map((one) => backupOf(one, instance, revision, false)));
    case 'GET /backups/:id':
      return backup === undefined
        ? v1Error(404, 'backupNotFound')
        : ok(backupOf(backup, instance, revision, true));
    case 'POST /backups':
      return ok({ id: newBackup(instance).id, message: 'The backup is queued.' });
    case 'POST /backups/:id/restore':
      return backup === undefined
        ? v1Error(404, 'backupNotFound')
        : ok({ id: newRestore(instance, backup.id, backup.triggeredAt).id });
    case 'GET /restores':
      return ok(instance.restores.map(restoreOf));
    case 'GET /restores/:id': {
      const restore = instance.restores.find((candidate) => candidate.id === id);
      return restore === undefined ? v1Error(404, 'restoreNotFound') : ok(restoreOf(restore));
    }
    case 'GET /backups-config':
      return ok({ ...instance.config });
    case 'PATCH /backups-config':
      return configure(instance, body);
    case 'POST /disaster-recovery/prepare':
      return prepare(instance, body);
    case 'POST /disaster-recovery/perform':
      return perform(frame, instance);
    case 'PATCH /updates':
      if (body['service_id'] !== SERVICE_ID) return v1Error(422, 'wrongService');
      return deploy(instance);
    case 'PATCH /recreate':
    case 'PATCH /restart':
      return deploy(instance);
    case 'GET /metrics':
      return measure(call.query.get('quantity'));
    case 'GET /pitr':
      return archiving ? ok(rangeOf(instance), revision === 61 ? 200 : 202) : v1Error(404, 'noArchiving');
    case 'POST /pitr/restore':
      return archiving && revision === 62 ? restoreTo(instance, body) : v1Error(404, 'noArchiving');
    case 'PATCH /broker/edit':
      return revision === 61 ? edit(instance, body) : v1Error(404, 'notFound');
    default:
      return v1Error(404, 'notFound');
  }
}

function answerV0(frame: Frame, instance: Instance | undefined): Answer {
  const { call, route, id } = frame;
  const { token, cookie, method, body, path } = call;
  if (token !== TOKEN && token !== READONLY_TOKEN) return v0Error(401);
  if (method === 'GET' && cookie !== SESSION) {
    return {
      status: 302,
      body: {},
      headers: { location: path, 'set-cookie': `${SESSION}; Path=/; HttpOnly` },
    };
  }
  const loading = route.endsWith('/download');
  if (token === READONLY_TOKEN && method !== 'GET' && !loading) return v0Error(403);
  if (instance === undefined) return v0Error(412);
  if (loading) {
    const backup = instance.backups.find((candidate) => candidate.id === id);
    return download(backup, v0Error(412));
  }
  if (route === 'GET /backups') return ok(listingOf(instance));
  if (route === 'POST /backups') return ok({ id: newBackup(instance).id, message: 'Scheduled.' }, 201);
  const backup = instance.backups.find((candidate) => candidate.id === body['backup_id']);
  if (backup === undefined || body['instance_id'] !== instance.id) return v0Error(412);
  return ok({ restore_id: newRestore(instance, backup.id, backup.triggeredAt).id });
}

function download(backup: Backup | undefined, error: Answer): Answer {
  return backup === undefined ? error : ok(backup.content);
}

function configure(instance: Instance, body: Call['body']): Answer {
  const { min_backup_count = 0, retention_time = 0, exclude_from_auto_backup = false, encryption_key } = body;
  const whole = [min_backup_count, retention_time].every((n) => Number.isInteger(n) && Number(n) >= 0);
  const right = whole && typeof exclude_from_auto_backup === 'boolean' && keyFits(instance, encryption_key);
  if (!right) return v1Error(422, 'invalidParameters');
  for (const field of ['min_backup_count', 'retention_time', 'exclude_from_auto_backup'] as const) {
    if (body[field] !== undefined) Object.assign(instance.config, { [field]: body[field] });
  }
  if (typeof encryption_key === 'string') instance.key = encryption_key;
  return ok({ message: 'The configuration was changed.' });
}

function keyFits({ config }: Instance, key: unknown): boolean {
  return key === undefined || (typeof key === 'string' && key.length >= config.min_encryption_key_length);
}

function prepare(instance: Instance, body: Call['body']): Answer {
  const key = body['encryption_key'];
  if (!keyFits(instance, key)) return v1Error(422, 'keyTooShort');
  if (typeof key === 'string') instance.key = key;
  return ok({ backup_guid: instance.backupGuid });
}

function perform({ call, instances }: Frame, target: Instance): Answer {
  const { backup_guid, encryption_key } = call.body;
  if (typeof backup_guid !== 'string' || typeof encryption_key !== 'string')
    return v1Error(422, 'missingParameters');
  const source = instances.find((candidate) => candidate.backupGuid === backup_guid);
  const newest = source?.backups.at(-1);
  if (newest === undefined) return v1Error(404, 'backupsNotFound');
  const end = newest.key === encryption_key ? 'done' : 'failed';
  return ok({ restore_id: newRestore(target, newest.id, newest.triggeredAt, end).id });
}

function deploy(instance: Instance): Answer {
  instance.deploying = 3;
  return ok({}, 202);
}

function measure(quantity: string | null): Answer {
  const all = metrics();
  if (quantity === null) return ok(all);
  return /^[1-9]\d*$/.test(quantity) ? ok(all.slice(-Number(quantity))) : v1Error(422, 'wrongQuantity');
}

function rangeOf(instance: Instance): { readonly start_time: string; readonly end_time: string } {
  return { start_time: instance.createdAt.toISOString(), end_time: new Date().toISOString() };
}

function restoreTo(instance: Instance, body: Call['body']): Answer {
  const at = Date.parse(String(body['target_time']));
  const { start_time, end_time } = rangeOf(instance);
  if (!(at >= Date.parse(start_time) && at <= Date.parse(end_time))) return v1Error(422, 'outOfRange');
  return ok({ status: newRestore(instance, instance.backups[0]?.id ?? 0, new Date(at)).status }, 202);
}

function edit(instance: Instance, body: Call['body']): Answer {
  const setting = body['allowed_update_time'] as { type?: unknown; allowed?: unknown } | undefined;
  if (typeof setting?.allowed !== 'boolean') return v1Error(422, 'invalidParameters');
  return ok({ allowed_update_time: setting, id: instance.guid });
}
