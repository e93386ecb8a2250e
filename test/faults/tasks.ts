import type { ForeignServer } from '../bench-kit/foreign/server.ts';
import { until } from '../bench-kit/until.ts';
import type { Fault } from './faults.ts';
import type { Passing, Reply } from './proxy.ts';
import type { Seen } from './seen.ts';

/** The answer without what is hidden in it; undefined when there is nothing to hide. */
export type Hidden = (passing: Passing, reply: Reply) => Reply | undefined;

/**
 * From now on no list shows a task that is not there yet, and nothing is known of it when it is asked for.
 */
export function hide(server: ForeignServer, route: string): Hidden {
  const instance = server.instance(nameIn(route));
  const known = {
    backups: new Set(instance.backups.map(({ id }) => id)),
    restores: new Set(instance.restores.map(({ id }) => id)),
  };
  return ({ method, url }, reply) => {
    const [, list, id] = /\/(backups|restores)(?:\/(\d+))?$/u.exec(url) ?? [];
    if (method !== 'GET' || !decodeURIComponent(url).includes(instance.guid)) return undefined;
    const ids = known[list as keyof typeof known];
    if (ids === undefined) return undefined;
    if (id === undefined) {
      const rows = JSON.parse(reply.body.toString()) as { readonly id: number }[];
      return { ...reply, body: Buffer.from(JSON.stringify(rows.filter((row) => ids.has(row.id)))) };
    }
    if (ids.has(Number(id))) return undefined;
    const words = { error: 'notFound', description: 'there is none' };
    return { status: 404, headers: reply.headers, body: Buffer.from(JSON.stringify(words)) };
  };
}

/** Lets the instance have a restore of long before the run; a target has to be empty. */
export async function restoreOnce(server: ForeignServer): Promise<void> {
  const backup = server.instances.flatMap(({ backups }) => backups).find(({ status }) => status === 'done');
  if (backup?.file === undefined) throw new Error('there is no backup to be restored');
  const { key } = backup.file;
  const restore = server.instance('orders').restore(backup, key, { ms: 0 });
  await until(() => restore.isOver);
}

/**
 * Names a task of before as if it were the new one: in the answer to a call that is carried out (`wrong-id`),
 * or is not.
 */
export async function nameOld(
  fault: Fault,
  { work, give }: Passing,
  { route }: Seen,
  server: ForeignServer,
): Promise<void> {
  const { backups, restores } = server.instance(nameIn(route));
  const [id] = (route.endsWith('/backups') ? backups : restores).map((old) => old.id);
  const field = route.endsWith('/perform') ? 'restore_id' : 'id';
  const body = Buffer.from(JSON.stringify({ [field]: id, message: 'queued' }));
  if (fault === 'old-id') return give({ status: 200, headers: { 'content-type': 'application/json' }, body });
  give({ ...(await work()), body });
}

/** What a colleague does by hand at the same moment: the same as the newest task, once more. */
export async function beSecond(server: ForeignServer, route: string): Promise<void> {
  const instance = server.instance(nameIn(route));
  if (route.endsWith('/backups')) return void (await instance.schedule());
  const restore = instance.restores.toSorted((a, b) => b.id - a.id)[0];
  if (restore === undefined) throw new Error('there is no restore to be repeated');
  if (route.endsWith('/pitr/restore')) return void instance.rewind(restore.restoredFrom);
  const backups = server.instances.flatMap((one) => one.backups);
  const backup = backups.find(({ triggered }) => triggered.getTime() === restore.restoredFrom.getTime());
  if (backup?.file === undefined) throw new Error('the backup of the restore is gone');
  instance.restore(backup, backup.file.key);
}

function nameIn(route: string): string {
  return route.split(' ')[1] ?? '';
}
