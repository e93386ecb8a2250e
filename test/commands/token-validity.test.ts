import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openInstance, tokenValidity } from '../../src/compose/service-of.ts';
import { parseConfig } from '../../src/config/load.ts';
import { memoryStore } from '../../src/keys/key-store.ts';
import { openSharedAccess } from '../../src/service/shared-access.ts';

const SOON = '2026-03-10T12:00:00.000Z';
const LATER = '2026-12-31T00:00:00.000Z';

const encoded = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url');
const jwt = (claims: object) => `Bearer ${encoded({ alg: 'RS256' })}.${encoded(claims)}.c2ln`;
const seconds = (at: string) => Date.parse(at) / 1000;

/** What is known of the token of an instance with this source, that gives this header. */
async function validityOf(source: string, header: string) {
  const instances = `{ orders: { url: https://a.example/service-instances/1, token: ${source} } }`;
  const config = parseConfig(`instances: ${instances}`, 'lifeboat.yaml').instances['orders'];
  if (config === undefined) throw new Error('the config has no instance');
  let reads = 0;
  const token = async () => {
    reads += 1;
    return new Secret(header);
  };
  return { reads: () => reads, ...(await tokenValidity({ config, token })) };
}

test.for<[what: string, source: string, header: string, known: object]>([
  ['a token that says so', '{ env: T }', jwt({ exp: seconds(SOON) }), { kind: 'until', until: SOON }],
  ['the config', '{ file: ./t, expires: 2026-12-31 }', 'Bearer opaque', { kind: 'until', until: LATER }],
  [
    'the earlier of both',
    '{ keychain: true, expires: 2026-12-31 }',
    jwt({ exp: seconds(SOON) }),
    { kind: 'until', until: SOON },
  ],
  [
    'the config, where the token says a later time',
    '{ env: T, expires: "2026-03-10T12:00:00Z" }',
    jwt({ exp: seconds(LATER) }),
    { kind: 'until', until: SOON },
  ],
  [
    'the config, where a command gives it',
    '{ command: cf oauth-token, expires: 2026-12-31 }',
    jwt({ exp: seconds(SOON) }),
    { kind: 'until', until: LATER },
  ],
  ['nothing, where it is opaque', '{ env: T }', 'Bearer opaque', { kind: 'unsaid' }],
  ['nothing, where its end is no time', '{ env: T }', jwt({ exp: 1e300 }), { kind: 'unsaid' }],
  ['nothing, where it has no end', '{ env: T }', jwt({ sub: 'robot' }), { kind: 'unsaid' }],
])('the remaining validity of a token is given by %s', async ([, source, header, known]) => {
  expect(await validityOf(source, header)).toMatchObject(known);
});

test('a token command is not run to learn how long its token is valid', async () => {
  const known = await validityOf('{ command: cf oauth-token }', jwt({ exp: seconds(SOON) }));
  expect(known.kind).toBe('renewed');
  expect(known.reads()).toBe(0);
});

test('instances that are asked together read the token of one file once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'token');
  writeFileSync(file, 'Bearer opaque', { mode: 0o600 });
  const at = (id: number) => ({
    url: `https://a.example/service-instances/${id}`,
    revision: 62,
    token: { file },
  });
  const instances = { orders: at(1), stock: at(2) };
  const config = parseConfig(JSON.stringify({ instances }), 'lifeboat.yaml');
  const access = openSharedAccess();
  const store = async () => memoryStore();
  const orders = await openInstance(config, 'orders', { store, access });
  expect(await tokenValidity(orders)).toEqual({ kind: 'unsaid' });
  rmSync(file);
  expect(await tokenValidity(await openInstance(config, 'stock', { store, access }))).toEqual({
    kind: 'unsaid',
  });
  await expect(tokenValidity(await openInstance(config, 'stock', { store }))).rejects.toMatchObject({
    code: 'credentials.missing',
  });
});
