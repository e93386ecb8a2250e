import type { VerbOf } from '../../machines/verbs.ts';
import type { Seen } from './seen.ts';

/** What a request is to a flow: the columns of the tables. */
export const KINDS = [
  'decision',
  'comfort',
  'retention',
  'last-look',
  'others',
  'aside',
  'poll',
  'task',
  'nameless',
  'action',
  'key',
  'hold',
  'release',
  'prepare',
  'list',
  'look',
  'no-trace',
  'download',
  'only-download',
  'who-before',
  'who-after',
  'about-before',
  'about-after',
  'parameters',
  'witness',
  'step',
  'watch',
  'gone',
  'old-binding',
  'start',
  'processes',
  'deployments',
  'change',
  'roll-out',
] as const;
export type Kind = (typeof KINDS)[number];

/** What is polled until it is over: a second poll is not a second try. */
export const WAITED: ReadonlySet<Kind> = new Set<Kind>([
  'poll',
  'watch',
  'gone',
  'old-binding',
  'start',
  'processes',
]);

/** Asks what became of a change. */
export const ASKS: ReadonlySet<Kind> = new Set<Kind>(['list', 'look', 'no-trace']);

const ONCE: Readonly<Record<VerbOf<'once'>, Kind>> = {
  createBackup: 'task',
  restoreBackup: 'task',
  performRecovery: 'task',
  restoreToTime: 'nameless',
  restart: 'action',
  recreate: 'action',
  update: 'action',
  runOnce: 'aside',
};

function onceKind(verb: string): Kind | undefined {
  return Object.hasOwn(ONCE, verb) ? ONCE[verb as VerbOf<'once'>] : undefined;
}

/** The column of a request that came from a run in this process; throws for one that no column is for. */
export function kindOf(seen: Seen): Kind {
  const { peer, method, route, at } = seen;
  // Revision 62 has one way to a download, as far as a service keeps to the document.
  if (peer === 'service' && route.endsWith('/download'))
    return route.includes(' v0 ') ? 'only-download' : 'download';
  if (at === undefined) throw new Error(`nobody knows where ${route} came from`);
  if (peer === 'platform') return method === 'GET' ? readKind(seen) : changeKind(seen);
  if (method === 'GET') {
    const once = at.hasSent ? onceKind(at.verb) : undefined;
    if (once === 'task' || once === 'nameless') return 'list';
    if (once !== undefined) return at.verb === 'recreate' ? 'no-trace' : 'look';
    if (route.endsWith('/metrics')) return 'comfort';
    if (/^record(?:Rotation|Proof|Recovery)$/u.test(at.verb))
      return route.endsWith('/backups-config') ? 'retention' : 'last-look';
    if (route.endsWith('/restores') && /^(?:preflight|recheck)$/u.test(at.verb)) return 'others';
    return at.verb.startsWith('waitFor') ? 'poll' : 'decision';
  }
  if (route.endsWith('/disaster-recovery/prepare')) return 'prepare';
  if (route.endsWith('/backups-config') && at.verb === 'setKey') return 'key';
  // It is forbidden first and allowed at the end.
  if (route.endsWith('/broker/edit')) return at.turn === 1 ? 'hold' : 'release';
  const kind = onceKind(at.verb);
  if (kind === undefined) throw new Error(`the table has no column for ${route} of ${at.verb}`);
  return kind;
}

const WHO = /^GET \/v3\/(?:service_instances|service_credential_bindings)$/u;
const READS: readonly (readonly [verb: RegExp, route: RegExp, kind: Kind])[] = [
  [/./u, /\/parameters$/u, 'parameters'],
  [/./u, /\/audit_events$/u, 'witness'],
  [/./u, /\/jobs\/:guid$/u, 'gone'],
  [/^unbindApp$/u, /\/service_credential_bindings\/:guid$/u, 'old-binding'],
  [/./u, /\/stats$/u, 'start'],
  [/./u, /\/processes$/u, 'processes'],
  [/./u, /\/deployments$/u, 'deployments'],
  [/./u, /\/(?:builds|deployments)\/:guid$/u, 'watch'],
  [/^bindApp$/u, /\/service_credential_bindings$/u, 'watch'],
  [
    /^(?:unbindApp|bindApp|restageApp)$/u,
    /\/(?:apps\/:guid|service_credential_bindings|builds|packages)$/u,
    'step',
  ],
];

function readKind({ route, at }: Seen): Kind {
  const { verb = '', turn = 1 } = at ?? {};
  const kind = READS.find(([by, of]) => by.test(verb) && of.test(route))?.[2];
  if (kind !== undefined) return kind;
  if (verb !== 'findBound') throw new Error(`the table has no column for ${route} of ${verb}`);
  const what = WHO.test(route) ? 'who' : 'about';
  // Before the restore, and again after it.
  return turn === 1 ? `${what}-before` : `${what}-after`;
}

function changeKind({ method, route }: Seen): Kind {
  if (route === 'POST /v3/deployments') return 'roll-out';
  if (method === 'DELETE' || /\/(?:service_credential_bindings|builds)$/u.test(route)) return 'change';
  throw new Error(`the table has no column for ${route}`);
}
