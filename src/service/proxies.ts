import { EXIT, LifeboatError } from '../base/errors.ts';
import { ipNetwork } from '../base/ip-network.ts';
import { isLoopback } from './address.ts';

export interface ProxyInUse {
  /** Includes user and password, if given. */
  readonly url: URL;
  /** Names the proxy. */
  readonly variable: string;
  /** Without user and password. */
  readonly shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Chosen as curl and cf do: `https_proxy` for https and `http_proxy` for http, else `all_proxy`, in lower or
 * upper case; an empty variable counts as unset. Undefined if the origin is reached directly: this machine,
 * and the hosts in `no_proxy`. Throws `config.proxy` if the variable names no HTTP proxy.
 */
export function proxyFor(origin: string, env: Environment = process.env): ProxyInUse | undefined {
  const target = new URL(origin);
  const kind = target.protocol.replace(':', '');
  const set = setIn(env, `${kind}_proxy`) ?? setIn(env, 'all_proxy');
  if (set === undefined || isLoopback(target.hostname)) return undefined;
  const listed = setIn(env, 'no_proxy')?.value.split(/[\s,]+/u) ?? [];
  if (listed.some((entry) => covers(entry, target))) return undefined;
  const { variable, value } = set;
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A SOCKS proxy opens its connections where `OneConnection` cannot count them.
  if (url === undefined || !/^https?:$/u.test(url.protocol)) throw notHttp(variable);
  return { url, variable, shown: `${url.protocol}//${url.host}` };
}

/** Entries of `no_proxy` that look like a network but are not: they cover nothing. */
export function unreadNetworks(env: Environment = process.env): readonly string[] {
  const listed = setIn(env, 'no_proxy')?.value.split(/[\s,]+/u) ?? [];
  return listed.filter((entry) => entry.includes('/') && ipNetwork(entry) === undefined);
}

function setIn(env: Environment, name: string) {
  const variable = [name, name.toUpperCase()].find((one) => (env[one] ?? '').trim() !== '');
  return variable === undefined ? undefined : { variable, value: (env[variable] ?? '').trim() };
}

/**
 * `*` covers all; a name covers itself and its subdomains, `*.NAME` only those; an address or a network
 * covers hosts written as an address, since no name is resolved for it. A port must match, if given.
 */
function covers(entry: string, { hostname, port, protocol }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '').replace(/\.$/u, '');
  if (entry.includes('/')) return ipNetwork(entry)?.has(host) ?? false;
  const [, bracketed, plain = entry, ofPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/u.exec(entry) ?? [];
  if (ofPort !== undefined && Number(ofPort) !== Number(port || (protocol === 'https:' ? 443 : 80)))
    return false;
  const name = (bracketed ?? plain).toLowerCase().replace(/\.$/u, '');
  if (name === '*') return true;
  const address = ipNetwork(name);
  if (address !== undefined) return address.has(host);
  const bare = name.replace(/^\*?\./u, '');
  return bare !== '' && ((host === bare && !name.startsWith('*')) || host.endsWith(`.${bare}`));
}

function notHttp(variable: string): LifeboatError {
  return new LifeboatError('config.proxy', `${variable} is not the url of an HTTP proxy`, {
    hints: [`set ${variable} to http://HOST:PORT`, 'or name the host of the service in NO_PROXY'],
    exitCode: EXIT.usage,
  });
}

const blamed = new WeakMap<object, ProxyInUse>();

/** For the wording of the error. */
export function blame(error: Error, proxy: ProxyInUse): void {
  blamed.set(error, proxy);
}

/** A connection failed behind it. */
export function blamedProxy(thrown: unknown): ProxyInUse | undefined {
  return thrown instanceof Error ? blamed.get(thrown) : undefined;
}
