import { type Answer, ok, refusedByV0 } from './call.ts';
import { download } from './download.ts';
import type { Asked, Route, World } from './route.ts';
import { spellListing } from './spell.ts';

/** Section 4.4, below `/service-instances/:instance_id`. */
export function v0Routes(world: World): readonly Route[] {
  const { revision, taste = 'odd' } = world.options;
  const oddly = revision === 62 ? 'GET' : 'POST';
  const { downloadBy = taste === 'plain' ? 'both' : oddly } = world.options;
  const methods = (['GET', 'POST'] as const).filter((method) => [method, 'both'].includes(downloadBy));
  return [
    { method: 'GET', path: '/backups', answer: ({ instance }) => ok(spellListing(instance, taste)) },
    { method: 'POST', path: '/backups', answer: create },
    { method: 'POST', path: '/backups/restore', answer: restore },
    ...methods.map(
      (method): Route => ({
        method,
        path: '/backups/:id/download',
        onlyReads: true,
        answer: (asked) => download(asked, world, 'v0'),
      }),
    ),
  ];
}

async function create({ instance, wish }: Asked): Promise<Answer> {
  const { id } = await instance.createBackup(wish);
  return { status: 201, body: { id, message: 'Your backup has been scheduled!' } };
}

/** Both ids are internal ones, unlike the id in the path. */
function restore({ instance, body, wish }: Asked): Answer {
  const backup = instance.backups.find(({ id, status }) => id === body['backup_id'] && status === 'done');
  if (body['instance_id'] !== instance.number || backup?.file === undefined) {
    return refusedByV0(412, 'instance_id and backup_id do not match');
  }
  return ok({ restore_id: instance.restore(backup, backup.file.key, wish).id, eta: null });
}
