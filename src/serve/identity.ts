import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Admission } from './gate.ts';

/** Finds out who asks, from the headers of a request of a trusted proxy. */
export type Identify = (headerOf: (name: string) => string | undefined) => Promise<Admission>;

/** The proxy sets this header, and removes one that a client sends. */
export function byHeader(header: string): Identify {
  return async (headerOf) => {
    const name = printable(headerOf(header));
    // Proxies write two headers of one name as a list.
    return name === undefined || name.includes(',')
      ? { status: 401, why: 'the proxy names nobody, or more than one' }
      : { person: name };
  };
}

export interface JwtOptions {
  readonly header: string;
  readonly keys: JSONWebKeySet | FetchedKeys;
  readonly issuer: string;
  readonly audience: string;
}

export interface FetchedKeys {
  readonly url: URL;
  readonly fetch: FetchImplementation;
  /** Takes why keys cannot be fetched, once until they can; those that were fetched before still count. */
  readonly warn: (text: string) => void;
}

/** Milliseconds after which keys are fetched again, and for which they count if that fails. */
const [RENEW_MS, KEPT_MS] = [10 * 60_000, 24 * 60 * 60_000];
/** Between two attempts after one that failed: no client can make this page ask the proxy without end. */
const PAUSE_MS = 5_000;

/** Seconds that the clocks of the proxy and of this machine may differ. */
const SKEW = 30;

/** No secret shared with the proxy signs, and no token is unsigned. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** A token that the proxy signs. It has to be for this page, of that proxy, and not over. */
export function byJwt({ header, keys, issuer, audience }: JwtOptions): Identify {
  const keysOf = 'keys' in keys ? createLocalJWKSet(keys) : keptKeys(keys);
  return async (headerOf) => {
    const token = headerOf(header)?.replace(/^Bearer /u, '');
    if (token === undefined) return { status: 401, why: 'the proxy sends no token, or more than one' };
    try {
      const { payload } = await jwtVerify(token, keysOf, {
        ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance: SKEW },
        requiredClaims: ['exp'],
      });
      const person = printable(textIn(payload['email']) ?? payload.sub);
      return person === undefined ? { status: 401, why: 'the token names nobody' } : { person };
    } catch (thrown) {
      if (thrown instanceof NoKeys) return { status: 401, why: thrown.message };
      return { status: 401, why: `the token does not hold: ${whyRefused(thrown)}` };
    }
  };
}

/** By the code and the claim that the library names: its message may quote the token. */
function whyRefused(thrown: unknown): string {
  if (thrown instanceof errors.JWTExpired) return 'it has expired';
  if (!(thrown instanceof errors.JWTClaimValidationFailed))
    return thrown instanceof errors.JOSEError ? thrown.code : 'the keys cannot be had';
  const { claim, reason } = thrown;
  if (reason === 'missing') return `it has no ${claim}`;
  return claim === 'nbf' ? 'it is not valid yet' : `its ${claim} is another`;
}

/** There are no keys to check a token with. */
class NoKeys extends Error {}

/** Keys that are fetched every ten minutes; while that fails, those of the last day count. */
function keptKeys({ url, fetch, warn }: FetchedKeys): JWTVerifyGetKey {
  const options = { cacheMaxAge: KEPT_MS, timeoutDuration: 5_000, [customFetch]: fetch };
  const known = createRemoteJWKSet(url, options);
  let [renewedAt, triedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let trouble: string | undefined;
  const renew = async () => {
    triedAt = Date.now();
    try {
      await known.reload();
      renewedAt = Date.now();
      trouble = undefined;
    } catch (thrown) {
      const why = `the proxy's public keys cannot be fetched: ${show(failureOf(thrown).shortMessage, 300)}`;
      if (trouble === undefined) warn(known.fresh ? `${why}; those fetched before still count` : why);
      trouble = why;
    }
  };
  return async (header, token) => {
    const now = Date.now();
    if (now - renewedAt >= RENEW_MS && (known.reloading || now - triedAt >= PAUSE_MS)) await renew();
    if (!known.fresh) throw new NoKeys(trouble ?? "the proxy's public keys are not here yet");
    return await known(header, token);
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function printable(name: string | undefined): string | undefined {
  const shown = show((name ?? '').trim(), 80);
  return shown === '' ? undefined : shown;
}
