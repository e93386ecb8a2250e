import { type Answer, type Json, ok, refused } from './call.ts';
import { download } from './download.ts';
import type { DeployAction } from './instance.ts';
import { latest, metricsOf } from './metrics.ts';
import { type Asked, backupOf, isOffered, type Route, type World } from './route.ts';
import { changeSettings, isKey, KEY_TOO_SHORT } from './settings.ts';
import { spellBackup, spellConfig, spellOverview, spellRange, spellRestore, spellStarted } from './spell.ts';

/** Section 4.1, and what section 4.2 says of revision 61, below `/v1/instances/:instance_id`. */
export function v1Routes(world: World): readonly Route[] {
  const { revision, taste = 'odd', folder } = world.options;
  const isOld = revision === 61;
  const common: readonly Route[] = [
    {
      method: 'GET',
      path: '/backups',
      answer: ({ instance }) => ok(instance.backups.map(spelled(instance))),
    },
    { method: 'GET', path: '/backups/:id', answer: oneBackup },
    { method: 'POST', path: '/backups', answer: createBackup },
    {
      method: 'GET',
      path: '/restores',
      answer: ({ instance }) => ok(instance.restores.map((restore) => spellRestore(restore, taste))),
    },
    { method: 'GET', path: '/restores/:id', answer: oneRestore },
    { method: 'POST', path: '/backups/:id/restore', answer: restore },
    { method: 'GET', path: '/backups-config', answer: ({ instance }) => ok(spellConfig(instance, taste)) },
    { method: 'PATCH', path: '/backups-config', answer: changeSettings },
    { method: 'POST', path: '/disaster-recovery/prepare', answer: prepare },
    { method: 'POST', path: '/disaster-recovery/perform', answer: perform },
    {
      method: 'GET',
      path: '',
      answer: ({ instance }) => ok(spellOverview(instance, world.urlOf(instance), taste)),
    },
    { method: 'PATCH', path: '/recreate', answer: (asked) => deploy(asked, 'recreate') },
    { method: 'PATCH', path: '/restart', answer: (asked) => deploy(asked, 'restart') },
    { method: 'PATCH', path: '/updates', answer: update },
    { method: 'GET', path: '/metrics', answer: metrics },
    { method: 'GET', path: '/pitr', answer: range },
  ];
  return [
    ...common,
    ...(isOld
      ? ([
          { method: 'GET', path: '/backups/:id/download', answer: (asked) => download(asked, world, 'v1') },
          { method: 'PATCH', path: '/broker/edit', answer: edit },
        ] satisfies Route[])
      : ([{ method: 'POST', path: '/pitr/restore', answer: rewind }] satisfies Route[])),
  ];

  function spelled(instance: Asked['instance']) {
    return (backup: Asked['instance']['backups'][number]) =>
      spellBackup(backup, revision, taste, isOffered(backup, instance, world));
  }

  /**
   * Revision 61 lists 202 for asking after one task as well: an odd service says so while it is under way.
   */
  function taskStatus(isOver: boolean): number {
    return isOld && taste === 'odd' && !isOver ? 202 : 200;
  }

  /** Revision 61 lists 202 for what begins something. */
  function begun(body: Json): Answer {
    return { status: isOld ? 202 : 200, body };
  }

  /** Only revision 61 lists 409; the other one queues. */
  function busy({ instance }: Asked, kind: Parameters<typeof instance.isBusy>[0]): Answer | undefined {
    if (!isOld || !instance.isBusy(kind)) return undefined;
    return refused(409, `${kind}InProgress`, `a ${kind} is under way`);
  }

  /** Only revision 61 names `backup_id` when one backup is asked for (section 2.1). */
  function oneBackup(asked: Asked): Answer {
    const backup = backupOf(asked);
    if (backup === undefined) return refused(404, 'backupNotFound', 'there is no such backup');
    const { backup_id, ...rest } = spelled(asked.instance)(backup);
    return { status: taskStatus(backup.isOver), body: isOld ? { ...rest, backup_id } : rest };
  }

  async function createBackup(asked: Asked): Promise<Answer> {
    const conflict = busy(asked, 'backup');
    if (conflict !== undefined) return conflict;
    const { id } = await asked.instance.createBackup(asked.wish);
    return begun({ id, message: 'Backup job is queued.', trace: 'f00' });
  }

  function oneRestore({ instance, id }: Asked): Answer {
    const found = instance.restores.find((candidate) => candidate.id === id);
    if (found === undefined) return refused(404, 'restoreNotFound', 'there is no such restore');
    return { status: taskStatus(found.isOver), body: spellRestore(found, taste) };
  }

  function restore(asked: Asked): Answer {
    const backup = backupOf(asked);
    if (backup?.file === undefined) return refused(404, 'backupNotFound', 'there is no backup to restore');
    const conflict = busy(asked, 'restore');
    if (conflict !== undefined) return conflict;
    return begun({ id: asked.instance.restore(backup, backup.file.key, asked.wish).id });
  }

  /** Endpoint 10: a key that is given is the instance's key from now on; without one nothing changes. */
  function prepare({ instance, body }: Asked): Answer {
    const key = body['encryption_key'];
    if (key !== undefined && !isKey(key)) return KEY_TOO_SHORT;
    if (key !== undefined) instance.keys.push(key);
    return begun({ backup_guid: instance.backupGuid });
  }

  /**
   * Endpoint 11: the GUID stands for the newest backup of an instance, a `backup_id` for itself (section 2.1:
   * a fork).
   */
  function perform(asked: Asked): Answer {
    const { backup_guid: guid, encryption_key: key } = asked.body;
    if (typeof guid !== 'string' || typeof key !== 'string') {
      return refused(422, 'invalidParameters', 'backup_guid and encryption_key are required');
    }
    const backup = world.instances
      .flatMap(({ backupGuid, backups }) =>
        backups.filter(({ backupId, file }) => file !== undefined && [backupGuid, backupId].includes(guid)),
      )
      .at(0);
    if (backup === undefined) return refused(404, 'backupNotFound', 'there is no backup with this guid');
    const conflict = busy(asked, 'restore');
    if (conflict !== undefined) return conflict;
    return begun({ restore_id: asked.instance.restore(backup, key, asked.wish).id });
  }

  function deploy(asked: Asked, action: DeployAction): Answer {
    const conflict = busy(asked, action);
    if (conflict !== undefined) return conflict;
    asked.instance.deploy(action, asked.wish);
    return spellStarted(action, taste);
  }

  function update(asked: Asked): Answer {
    if (asked.body['service_id'] === asked.instance.serviceId) return deploy(asked, 'update');
    return refused(404, 'serviceNotFound', 'service_id is not the service of this instance');
  }

  async function metrics({ instance, query }: Asked): Promise<Answer> {
    const quantity = query.get('quantity');
    const points = await metricsOf(instance, folder, world.now());
    if (quantity === null) return ok(points);
    if (!/^[1-9]\d{0,8}$/.test(quantity)) return refused(422, 'invalidParameters', 'quantity is at least 1');
    return ok(latest(points, Number(quantity)));
  }

  /** Endpoint 17: revision 62 lists 202 and no 200 (section 4.1 rule 5), revision 61 lists nothing. */
  function range({ instance }: Asked): Answer {
    const found = instance.range();
    if (found === undefined) return NO_ARCHIVING;
    return { status: isOld ? 200 : 202, body: spellRange(found) };
  }

  /** Endpoint 18: the answer names no restore; it is in the list. */
  function rewind({ instance, body, wish }: Asked): Answer {
    const found = instance.range();
    if (found === undefined) return NO_ARCHIVING;
    const text = body['target_time'];
    const to = typeof text === 'string' && ISO_TIME.test(text) ? new Date(text) : new Date(Number.NaN);
    if (!(to >= found.start && to <= found.end)) {
      return refused(422, 'invalidTargetTime', 'target_time is not a time of the available range');
    }
    return { status: 202, body: { status: instance.rewind(to, wish).status } };
  }
}

const NO_ARCHIVING = refused(404, 'notContinuouslyArchived', 'continuous archiving is not enabled');

/** With a zone: a local time would be another one on every machine. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Section 4.2 item 6. */
function edit({ instance, body }: Asked): Answer {
  const { type, allowed } = (body['allowed_update_time'] ?? {}) as Json;
  if (typeof type !== 'string' || typeof allowed !== 'boolean') {
    return refused(422, 'invalidParameters', 'allowed_update_time needs a type and allowed');
  }
  instance.updateSetting = { type, allowed };
  return ok({ allowed_update_time: instance.updateSetting, id: instance.guid });
}
