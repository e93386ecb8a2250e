import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { type StarterInstance, starterConfig } from '../../src/config/starter.ts';

const URL = 'https://h.example.com/service-instances/i';

test.for<Partial<StarterInstance>>([
  {},
  { name: '62', revision: 'auto' },
  { name: 'true', revision: 61, token: { env: 'null' } },
  { name: 'no', url: 'https://h/a,b/service-instances/i', revision: 'v0' },
  { token: { command: `printf '%s: #1 "{}"' "$TOKEN" | head -c 5 & # end` } },
  { token: { file: "./it's: a token" }, ca: './ca #1.pem' },
])('a generated config is read back as intended: %j', (wish) => {
  const instance = {
    name: 'orders',
    url: URL,
    revision: 62,
    token: { command: 'cf oauth-token' },
    ...wish,
  } as const;
  const text = starterConfig({ instances: [instance], editorSchema: './a b.json' });
  const [directive] = text.split('\n');
  expect(directive).toBe('# yaml-language-server: $schema=./a%20b.json');
  const { instances } = parseConfig(text, '/lifeboat.yaml');
  const { name, ca, token, ...rest } = instance;
  expect(Object.keys(instances)).toEqual([name]);
  const absolute = 'file' in token ? { file: token.file.replace('./', '/') } : token;
  expect(instances[name]).toMatchObject({ ...rest, token: absolute });
  expect(instances[name]?.ca).toBe(ca?.replace('./', '/'));
});

test('the generated config names the vault file where keys are kept there', () => {
  const instance = { name: 'orders', url: URL, revision: 62, token: { command: 'x' } } as const;
  const text = starterConfig({ instances: [instance], keyStore: 'vault' });
  expect(parseConfig(text, '/lifeboat.yaml').keyStore).toBe('vault');
  expect(text).toMatch(/^keyStore: vault$/mu);
});

test('what the generated comments suggest would be accepted, too', () => {
  const instance = { name: 'orders', url: URL, revision: 62, token: { command: 'x' } } as const;
  const text = starterConfig({ instances: [instance] });
  const lines = text.split('\n').filter((line) => !/^# platform: none/u.test(line));
  const wider = lines.map((line) => line.replace(/^( *)# (?=\w+: \S)/u, '$1'));
  expect(parseConfig(wider.join('\n'), '/lifeboat.yaml')).toMatchObject({
    keyStore: 'vault',
    drills: { every: 90 * 24 * 60 * 60_000 },
    platform: { api: expect.any(String) },
    instances: { orders: { role: 'target', objectives: { rto: 30 * 60_000 } } },
  });
});
