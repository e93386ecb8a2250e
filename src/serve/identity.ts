import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import { show } from '../base/text.ts';
import type { Admission } from './gate.ts';

/** Finds out who asks, from the headers of a request of a trusted proxy. */
export type Identify = (headerOf: (name: string) => string | undefined) => Promise<Admission>;

/** A header that the proxy sets, and takes from nobody else. */
export function byHeader(header: string): Identify {
  return async (headerOf) => {
    const name = printable(headerOf(header));
    return name === undefined
      ? { status: 401, why: 'the proxy names nobody, or more than one' }
      : { person: name };
  };
}

export interface JwtOptions {
  readonly header: string;
  /** The proxy's public keys, or where they are. */
  readonly keys: JSONWebKeySet | URL;
  readonly issuer: string;
  readonly audience: string;
}

/** Seconds that the clocks of the proxy and of this machine may differ. */
const SKEW = 30;

/** No secret shared with the proxy signs, and no token is unsigned. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** A token that the proxy signs. It has to be for this page, of that proxy, and not over. */
export function byJwt({ header, keys, issuer, audience }: JwtOptions): Identify {
  const keysOf =
    keys instanceof URL ? createRemoteJWKSet(keys, { timeoutDuration: 5_000 }) : createLocalJWKSet(keys);
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
      // The code of the library is a word of its own; its message may quote the token.
      const code = thrown instanceof errors.JOSEError ? thrown.code : 'the keys cannot be had';
      return { status: 401, why: `the token does not hold: ${code}` };
    }
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function printable(name: string | undefined): string | undefined {
  const shown = show((name ?? '').trim(), 80);
  return shown === '' ? undefined : shown;
}
