import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { byJwt, type Identify } from '../../src/serve/identity.ts';

const ISSUER = 'https://proxy.example.org';
const AUDIENCE = 'dr.example.org';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let identify: Identify;

beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' };
  identify = byJwt({ header: 'X-Jwt', keys: { keys: [jwk] }, issuer: ISSUER, audience: AUDIENCE });
});

interface Wish {
  readonly issuer?: string;
  readonly audience?: string;
  readonly until?: string | undefined;
  readonly claims?: Record<string, unknown>;
  readonly key?: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
}

async function token({ issuer = ISSUER, audience = AUDIENCE, until = '2m', claims, key }: Wish = {}) {
  const made = new SignJWT(claims ?? { email: 'ada@example.org' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setSubject('ada')
    .setIssuer(issuer)
    .setAudience(audience);
  return (until === '' ? made : made.setExpirationTime(until)).sign(key ?? keys.privateKey);
}

const asked = (text: string | undefined) => identify((name) => (name === 'X-Jwt' ? text : undefined));

test('a token that the proxy signed for this page identifies the person', async () => {
  expect(await asked(await token())).toEqual({ person: 'ada@example.org' });
  expect(await asked(`Bearer ${await token({ claims: {} })}`)).toEqual({ person: 'ada' });
});

test('a token with another issuer, audience or key, or expired, or without an end, identifies nobody', async () => {
  const other = await generateKeyPair('ES256');
  for (const wish of [
    { issuer: 'https://evil.example' },
    { audience: 'other.example.org' },
    { until: '-2m' },
    { until: '' },
    { key: other.privateKey },
  ]) {
    expect(await asked(await token(wish)), JSON.stringify(wish)).toMatchObject({ status: 401 });
  }
});

test('a token without a signature, or signed with the public key as a secret, identifies nobody', async () => {
  const unsigned = new UnsecuredJWT({ sub: 'root' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime('2m')
    .encode();
  const secret = new TextEncoder().encode(await exportSPKI(keys.publicKey));
  const confused = await new SignJWT({ sub: 'root' })
    .setProtectedHeader({ alg: 'HS256', kid: 'one' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime('2m')
    .sign(secret);
  for (const text of [unsigned, confused, '', 'x', 'a.b.c', undefined])
    expect(await asked(text), text).toMatchObject({ status: 401 });
});

test('the reason for a refusal is given in words of ours, without the token', async () => {
  const text = await token({ issuer: 'https://evil.example' });
  const refused = await asked(text);
  expect(JSON.stringify(refused)).toContain('its iss is another');
  expect(JSON.stringify(refused)).not.toContain(text.slice(0, 20));
  const nbf = Math.floor(Date.now() / 1000) + 3_600;
  const early = await asked(await token({ claims: { email: 'ada@example.org', nbf } }));
  expect(JSON.stringify(early)).toContain('it is not valid yet');
  expect(JSON.stringify(await asked(await token({ until: '' })))).toContain('it has no exp');
});
