import { expect, test } from 'vitest';
import { ServeConfig } from '../../src/config/serve.ts';

const read = (...trustedProxies: readonly string[]) =>
  ServeConfig.safeParse({ trustedProxies, identity: { header: 'X-Auth-User' } });

test.each(['10.0.0.5', '10.0.0.0/8', '192.168.0.0/16', 'fd00::5', 'fd00:1::/48', 'unix'])(
  '%s names proxies',
  (network) => expect(read(network).success).toBe(true),
);

test.each(['0.0.0.0/0', '0.0.0.0/1', '128.0.0.0/7', '::/0', 'fd00::/16'])(
  '%s is refused: nearly everyone could say who they are',
  (network) => expect(JSON.stringify(read('10.0.0.5', network).error)).toContain('nearly everyone'),
);

test.each(['proxy.example.org', '10.0.0.5/33', '', '10.0.0'])('%s is not accepted as a proxy', (text) =>
  expect(read(text).success).toBe(false),
);
