import type { Seen } from './seen.ts';

/** What a request is to a flow: the columns of the table. */
export const KINDS = [
  'decision',
  'comfort',
  'poll',
  'task',
  'action',
  'repeatable',
  'prepare',
  'list',
  'download',
  'platform-read',
  'platform-change',
] as const;
export type Kind = (typeof KINDS)[number];

const ONCE: ReadonlyMap<string, Kind> = new Map([
  ['createBackup', 'task'],
  ['restoreBackup', 'task'],
  ['performRecovery', 'task'],
  ['restoreToTime', 'task'],
  ['restart', 'action'],
  ['recreate', 'action'],
  ['update', 'action'],
]);
const REPEATABLE = /\/(?:backups-config|broker\/edit)$/u;

/** The column of a request that came from a run in this process; throws for one that no column is for. */
export function kindOf({ peer, method, route, at }: Seen): Kind {
  if (peer === 'platform') return method === 'GET' ? 'platform-read' : 'platform-change';
  if (route.endsWith('/download')) return 'download';
  if (at === undefined) throw new Error(`nobody knows where ${route} came from`);
  if (method === 'GET') {
    if (ONCE.has(at.verb) && at.isArmed) return 'list';
    if (route.endsWith('/metrics')) return 'comfort';
    return at.verb.startsWith('waitFor') ? 'poll' : 'decision';
  }
  if (route.endsWith('/disaster-recovery/prepare')) return 'prepare';
  const kind = REPEATABLE.test(route) ? 'repeatable' : ONCE.get(at.verb);
  if (kind === undefined) throw new Error(`the table has no column for ${route} of ${at.verb}`);
  return kind;
}
