import type { ForeignServer } from '../e2e/foreign/server.ts';
import type { Passing, Reply } from './proxy.ts';

/** The answer without what is hidden in it; undefined when there is nothing to hide. */
export type Hidden = (passing: Passing, reply: Reply) => Reply | undefined;

/** From now on no list shows a task that is not there yet, and nothing is known of it when it is asked for. */
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
