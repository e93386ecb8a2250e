import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';

test('a program with a slash is relative to the folder of the config; its arguments stay unchanged', () => {
  const reconnect = '{ command: [./bin/go, ./x, $HOME], proof: [kubectl, get] }';
  const { instances } = parseConfig(
    `instances: { a: { url: https://h/service-instances/x, apps: [{ name: b, reconnect: ${reconnect} }] } }`,
    '/etc/team/lifeboat.yaml',
  );
  expect(instances['a']?.apps).toEqual([
    {
      name: 'b',
      reconnect: {
        command: ['/etc/team/bin/go', './x', '$HOME'],
        proof: ['kubectl', 'get'],
        timeout: 600_000,
      },
    },
  ]);
});
