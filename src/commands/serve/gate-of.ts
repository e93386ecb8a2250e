import type { JSONWebKeySet } from 'jose';
import { readBounded, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { ipNetwork } from '../../base/ip-network.ts';
import type { Listening } from '../../base/listening.ts';
import { show } from '../../base/text.ts';
import type { ServeConfig } from '../../config/serve.ts';
import type { GateOptions } from '../../serve/gate.ts';
import { byHeader, byJwt, type FetchedKeys, type Identify } from '../../serve/identity.ts';

const LARGEST_KEYS = 256 * 1024;

/**
 * Who may ask by the config. Rejects with `serve.keys` (exit 2) for a file of public
 * keys that cannot be read, and with `config.ca` or `config.proxy`. `warn` takes why keys cannot be fetched.
 */
export async function gateOf(
  { hosts, trustedProxies, identity }: ServeConfig,
  listening: Listening,
  warn: (text: string) => void,
): Promise<GateOptions> {
  const proxies =
    identity === undefined
      ? undefined
      : {
          networks: trustedProxies.flatMap((text) => ipNetwork(text) ?? []),
          unix: trustedProxies.includes('unix'),
          identify: await identifyBy(identity, warn),
        };
  return { hosts: new Set([...hosts, ...ownHosts(listening)]), proxies };
}

async function identifyBy(
  identity: NonNullable<ServeConfig['identity']>,
  warn: (text: string) => void,
): Promise<Identify> {
  if ('header' in identity) return byHeader(identity.header);
  const { header, jwksUrl, jwksFile, ca, issuer, audience } = identity.jwt;
  const keys =
    jwksUrl === undefined ? await keysIn(jwksFile ?? '') : await fetchedFrom(new URL(jwksUrl), ca, warn);
  return byJwt({ header, keys, issuer, audience });
}

/** By the proxy of the environment, and the authorities of Node and of `ca`, as instances are reached. */
async function fetchedFrom(
  url: URL,
  ca: string | undefined,
  warn: (text: string) => void,
): Promise<FetchedKeys> {
  const { networkFor } = await import('../../service/network.ts');
  const { DEFAULT_LIMITS } = await import('../../service/limits.ts');
  const { transportError } = await import('../../service/failures.ts');
  const network = networkFor(url.origin, ca, DEFAULT_LIMITS);
  return {
    ...{ url, warn },
    async fetch(_, { headers, signal }) {
      const { dispatcher, close } = network.openForReads();
      try {
        const { statusCode, body } = await dispatcher.request({
          ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', signal },
          headers: Object.fromEntries(headers),
        });
        if (statusCode !== 200) throw new LifeboatError('serve.keys', `it answers ${statusCode}`);
        return new Response(await textOf(body));
      } catch (thrown) {
        throw thrown instanceof LifeboatError
          ? thrown
          : transportError(thrown, [], `the server ${show(url.host, 120)}`);
      } finally {
        close().catch(() => undefined);
      }
    },
  };
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LARGEST_KEYS) throw new LifeboatError('serve.keys', 'the answer is too large for public keys');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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

/** The names of this machine, for requests from it. */
function ownHosts(listening: Listening): readonly string[] {
  const names = ['localhost', '127.0.0.1', '[::1]'];
  if (listening.kind === 'unix') return names;
  const own = listening.host.includes(':') ? `[${listening.host}]` : listening.host;
  return [...names, own];
}
