import type { JSONWebKeySet } from 'jose';
import { readBounded, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { ipNetwork } from '../../base/ip-network.ts';
import type { Listening } from '../../base/listening.ts';
import { show } from '../../base/text.ts';
import type { ServeConfig } from '../../config/serve.ts';
import type { GateOptions } from '../../serve/gate.ts';
import { byHeader, byJwt, type Identify } from '../../serve/identity.ts';

const LARGEST_KEYS = 256 * 1024;

/**
 * Who may ask by the config, once the port is known. Rejects with `serve.keys` (exit 2) for a file of public
 * keys that cannot be read.
 */
export async function gateOf(
  { hosts, trustedProxies, identity }: ServeConfig,
  listening: Listening,
): Promise<(port: number | undefined) => GateOptions> {
  const proxies =
    identity === undefined
      ? undefined
      : {
          networks: trustedProxies.flatMap((text) => ipNetwork(text) ?? []),
          unix: trustedProxies.includes('unix'),
          identify: await identifyBy(identity),
        };
  return (port) => ({ hosts: new Set([...hosts, ...ownHosts(listening, port)]), proxies });
}

async function identifyBy(identity: NonNullable<ServeConfig['identity']>): Promise<Identify> {
  if ('header' in identity) return byHeader(identity.header);
  const { header, jwksUrl, jwksFile, issuer, audience } = identity.jwt;
  const keys = jwksUrl === undefined ? await keysIn(jwksFile ?? '') : new URL(jwksUrl);
  return byJwt({ header, keys, issuer, audience });
}

async function keysIn(path: string): Promise<JSONWebKeySet> {
  const unusable = (why: string, cause?: unknown) =>
    new LifeboatError('serve.keys', `${show(path, 200)} has no public keys: ${why}`, {
      hints: ['it is a JSON Web Key Set: {"keys": […]}', 'nothing was started'],
      exitCode: EXIT.usage,
      cause,
    });
  let text: string;
  try {
    text = (await readBounded(path, LARGEST_KEYS)).toString('utf8');
  } catch (cause) {
    throw unusable(whyUnread(cause), cause);
  }
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && 'keys' in read && Array.isArray(read.keys))
      return read as JSONWebKeySet;
  } catch (cause) {
    throw unusable('it is not JSON', cause);
  }
  throw unusable('it has no list of keys');
}

/** The names of this machine, for requests from it; a socket has no port. */
function ownHosts(listening: Listening, port: number | undefined): readonly string[] {
  const names = ['localhost', '127.0.0.1', '[::1]'];
  if (listening.kind === 'unix') return names;
  const own = listening.host.includes(':') ? `[${listening.host}]` : listening.host;
  return [...new Set([...names, own])].map((name) =>
    port === 80 ? name : `${name}:${port ?? listening.port}`,
  );
}
