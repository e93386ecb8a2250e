import type { IncomingMessage } from 'node:http';
import type { IpNetwork } from '../base/ip-network.ts';
import type { Identify } from './identity.ts';

/** Why a request gets no page. `why` is for the log and the answer, and holds nothing of the request. */
export interface Refusal {
  readonly status: 400 | 401 | 405 | 413 | 414 | 421 | 429 | 431 | 503;
  readonly why: string;
}

export interface GateOptions {
  /** The hosts that a request may name, in lower case; one without a port is meant with any. */
  readonly hosts: ReadonlySet<string>;
  /** Undefined without identities: then no proxy may be in front. */
  readonly proxies:
    | {
        readonly networks: readonly IpNetwork[];
        /** Whether a peer on the socket is a proxy. */
        readonly unix: boolean;
        readonly identify: Identify;
      }
    | undefined;
}

export type Admission = { readonly person: string | undefined } | Refusal;

/** The longest target of a request. Every address of a page is shorter. */
export const LONGEST_TARGET = 1_024;

/** Headers that a proxy adds: without identities, no unnamed proxy may be in front. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

export type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
};

/** Checks method, length, named host, peer and identity before any other use of the request. */
export async function admit(request: Asked, { hosts, proxies }: GateOptions): Promise<Admission> {
  const { method = '', url = '', headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, why: 'only GET and HEAD are answered' };
  if (url.length > LONGEST_TARGET) return { status: 414, why: 'the address is too long' };
  if (!url.startsWith('/')) return { status: 421, why: 'the request names another address' };
  if (Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined)
    return { status: 413, why: 'a request has no body' };
  const [host, another] = valuesOf(request, 'host');
  if (host === undefined || another !== undefined) return { status: 421, why: 'it names no host, or two' };
  if (!isNamed(host.toLowerCase(), hosts))
    return { status: 421, why: 'the host that it names is neither this machine nor in serve.hosts' };
  if (proxies === undefined) {
    const passed = OF_PROXIES.some((name) => headers[name] !== undefined);
    return passed
      ? { status: 401, why: 'it came through a proxy, and none is named in serve.trustedProxies' }
      : { person: undefined };
  }
  if (!isProxy(request, proxies)) return { status: 401, why: 'the peer is no trusted proxy' };
  return proxies.identify((name) => identityIn(request, name));
}

/** A page of another origin cannot choose the name; the port depends on tunnels and proxies in between. */
function isNamed(host: string, hosts: ReadonlySet<string>): boolean {
  return hosts.has(host) || hosts.has(host.replace(/:\d{1,5}$/u, ''));
}

function isProxy(
  { socket: { remoteAddress } }: Asked,
  { networks, unix }: NonNullable<GateOptions['proxies']>,
): boolean {
  if (remoteAddress === undefined) return unix;
  const address = plainAddress(remoteAddress);
  return networks.some((network) => network.has(address));
}

/** An IPv4 address without the form that it has on an IPv6 socket. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/u, '');
}

/** Undefined for two headers, or a spelling that some servers accept: the proxy let a forgery through. */
function identityIn(request: Asked, name: string): string | undefined {
  const [value, another] = valuesOf(request, name);
  return another === undefined && !hasVariant(request, name) ? value : undefined;
}

function valuesOf({ rawHeaders }: Asked, name: string): readonly string[] {
  return rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name.toLowerCase(),
  );
}

/** `X_Forwarded_User` beside `X-Forwarded-User`. */
function hasVariant({ rawHeaders }: Asked, name: string): boolean {
  const spelled = (text: string) => text.toLowerCase().replaceAll(/[_.]/gu, '-');
  return rawHeaders.some(
    (header, at) =>
      at % 2 === 0 && header.toLowerCase() !== name.toLowerCase() && spelled(header) === spelled(name),
  );
}
