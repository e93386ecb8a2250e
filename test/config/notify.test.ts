import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { tokenVariables } from '../../src/config/loaded.ts';

const config = (notify: unknown) =>
  parseConfig(JSON.stringify({ instances: {}, notify }), '/etc/lifeboat/lifeboat.yaml');
const url = 'https://hooks.example.com/lifeboat';

describe('a target to notify', () => {
  test('has its files relative to the folder of the config, and its variables are hidden from commands', () => {
    const headers = { Authorization: { env: 'HOOK_TOKEN' }, 'X-Key': { file: 'key' } };
    const { notify, ...rest } = config([
      { name: 'hook', url: { env: 'HOOK_URL' }, headers, ca: 'ca.pem' },
      { name: 'script', command: 'cat', on: ['question'] },
    ]);
    expect(notify).toEqual([
      {
        name: 'hook',
        url: { env: 'HOOK_URL' },
        headers: { ...headers, 'X-Key': { file: '/etc/lifeboat/key' } },
        ca: '/etc/lifeboat/ca.pem',
        hideEnv: expect.arrayContaining(['HOOK_TOKEN', 'HOOK_URL']),
      },
      expect.objectContaining({
        name: 'script',
        hideEnv: expect.arrayContaining(['HOOK_TOKEN', 'HOOK_URL']),
      }),
    ]);
    expect(tokenVariables({ ...rest, notify })).toEqual(['HOOK_URL', 'HOOK_TOKEN']);
  });

  test.each<[string, unknown]>([
    ['without a name', [{ url }]],
    [
      'with the name of another',
      [
        { name: 'a', url },
        { name: 'a', command: 'cat' },
      ],
    ],
    ['with an address that holds a secret', [{ name: 'a', url: `${url}?key=s3cret-k3y` }]],
    [
      'with a header whose value is in the config',
      [{ name: 'a', url, headers: { Authorization: 's3cret-k3y' } }],
    ],
    ['with a header of two lines', [{ name: 'a', url, headers: { 'X: y\nZ': { env: 'A' } } }]],
    ['for an event that does not exist', [{ name: 'a', url, on: ['everything'] }]],
    ['that has both a url and a command', [{ name: 'a', url, command: 'cat' }]],
  ])('is refused %s', (_, notify) => {
    const parse = () => config(notify);
    expect(parse).toThrow(/^\/etc\/lifeboat\/lifeboat\.yaml:1:\d+: notify/u);
    expect(parse).not.toThrow(/s3cret-k3y/u);
  });
});
