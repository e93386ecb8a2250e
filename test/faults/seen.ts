/** Whom a request was meant for. */
export type Peer = 'service' | 'platform';

/** A moment of a run: the same in every run of a flow that nothing has disturbed before. */
export interface Position {
  readonly verb: string;
  /** The how many-th time that the verb is performed, from 1. */
  readonly turn: number;
  /** How many requests came before it in this turn. */
  readonly index: number;
  /** How many of them were for the same route. */
  readonly sameBefore: number;
  /** Whether it has sent a change in this turn. */
  readonly hasSent: boolean;
}

/** A request as it came in, before anything was done about it. */
export interface Seen {
  readonly peer: Peer;
  readonly method: string;
  readonly path: string;
  /** Method, path without ids, and the instance: what is one endpoint to a flow. */
  readonly route: string;
  /** The how many-th of its route, from 1. */
  readonly nth: number;
  /** Where in the run it came from, where that can be seen: in the same process. */
  readonly at: Position | undefined;
  /** Whether it was handed on to the service. */
  worked: boolean;
  /** The fault that it met. */
  fault: string | undefined;
}

/**
 * How often a step asks for something; what it reads, before its change or after it: what it has sent it may
 * look for again and again.
 */
export function countOf(
  seen: readonly Seen[],
  { route, at }: Pick<Seen, 'route'> & { readonly at?: Position | undefined },
): number {
  return seen.filter(
    (one) =>
      one.route === route &&
      one.at?.verb === at?.verb &&
      one.at?.turn === at?.turn &&
      (!route.startsWith('GET') || one.at?.hasSent === at?.hasSent),
  ).length;
}

/** `GET orders /backups/:id`: the same for every run of a flow. */
export function routeOf(peer: Peer, method: string, url: string, names: ReadonlyMap<string, string>): string {
  const { pathname } = new URL(url, 'http://service');
  if (peer === 'platform') return `${method} ${pathname.replace(GUID, ':guid')}`;
  const [, base, guid = '', rest = ''] = INSTANCE.exec(pathname) ?? [];
  const name = names.get(decodeURIComponent(guid)) ?? 'nobody';
  const version = base === 'service-instances' ? ' v0' : '';
  return `${method}${version} ${name} ${rest.replace(ID, '/$1/:id') || '/'}`;
}

const INSTANCE = /^\/(v1\/instances|service-instances)\/([^/]+)(\/.*)?$/u;
const ID = /^\/(backups|restores)\/\d+/u;
const GUID = /[0-9a-f]{8}-[0-9a-f-]{27}/gu;
