import * as z from 'zod';
import { isoOf } from '../base/date.ts';
import type { Secret } from '../base/secret.ts';

/**
 * When a token expires, if it is a JSON Web Token that says so (RFC 7519 section 4.1.4). Read, not verified:
 * it only warns.
 */
export function expiryOf(authorization: Secret): string | undefined {
  const payload = authorization.reveal().split(/\s+/).at(-1)?.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims = z
      .looseObject({ exp: z.number() })
      .parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return isoOf(claims.exp * 1000);
  } catch {
    return undefined;
  }
}
