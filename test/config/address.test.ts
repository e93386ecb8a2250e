import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';

const SECRET = 'hunter2';

test.for([
  'https://h/service-instances/i?token=hunter2',
  'https://h/service-instances/i?hunter2',
  'https://h/service-instances/i#hunter2',
  'https://user:hunter2@h/service-instances/i',
  'https://hunter2@h/service-instances/i',
  'user:hunter2@h/service-instances/i',
  'h/service-instances/i?token=hunter2',
  'https://h:99999/service-instances/i?token=hunter2',
  '//user:hunter2@h/',
])('an address with a possible secret is refused, and not shown: %s', (address) => {
  const instance = `instances: { orders: { url: ${JSON.stringify(address)} } }`;
  const platform = `platform: { api: ${JSON.stringify(address)} }\ninstances: {}`;
  for (const [text, where] of [
    [instance, 'instances.orders.url'],
    [platform, 'platform'],
  ] as const) {
    let thrown: unknown;
    try {
      parseConfig(text, '/etc/lifeboat.yaml');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: 'config.invalid',
      exitCode: 2,
      shortMessage: expect.stringContaining(where),
    });
    expect(inspect(thrown)).not.toContain(SECRET);
  }
});

test('an address without any secret is accepted unchanged', () => {
  const url = 'https://h:8443/shared/x@y/service-instances/i/';
  const { instances } = parseConfig(`instances: { orders: { url: "${url}" } }`, '/etc/lifeboat.yaml');
  expect(instances['orders']?.url).toBe(url);
});
