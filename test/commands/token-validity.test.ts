import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { tokenValidity } from '../../src/compose/service-of.ts';
import { parseConfig } from '../../src/config/load.ts';

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
  ['nobody, where it is opaque', '{ env: T }', 'Bearer opaque', { kind: 'unsaid' }],
  ['nobody, where its end is no time', '{ env: T }', jwt({ exp: 1e300 }), { kind: 'unsaid' }],
  ['nobody, where it has no end', '{ env: T }', jwt({ sub: 'robot' }), { kind: 'unsaid' }],
])('how long a token is valid is said by %s', async ([, source, header, known]) => {
  expect(await validityOf(source, header)).toMatchObject(known);
});

test('a token command is not run to learn how long its token is valid', async () => {
  const known = await validityOf('{ command: cf oauth-token }', jwt({ exp: seconds(SOON) }));
  expect(known.kind).toBe('renewed');
  expect(known.reads()).toBe(0);
});
