import { afterEach, expect, test, vi } from 'vitest';
import { proxyChecks } from '../../../src/commands/doctor/instance.ts';
import type { LoadedConfig } from '../../../src/config/loaded.ts';

afterEach(() => vi.unstubAllEnvs());

const config = {
  platform: { api: 'https://api.example.com' },
  instances: {
    orders: { url: 'https://dashboard.example.com/service-instances/4a1f' },
    'orders-dr': { url: 'https://dashboard.example.org/service-instances/77b0' },
    inner: { url: 'https://192.0.2.7/service-instances/1' },
  },
} as unknown as LoadedConfig;

test('the proxy of each instance and of the platform is shown, without its password', () => {
  expect(proxyChecks(config)).toEqual([]);
  vi.stubEnv('https_proxy', '');
  vi.stubEnv('HTTPS_PROXY', 'http://ada:secret-word@proxy.example.net:3128');
  vi.stubEnv('NO_PROXY', 'example.org,192.0.2.0/24,10.0.0.0/99');
  expect(proxyChecks(config)).toMatchObject([
    { state: 'ok', found: 'http://proxy.example.net:3128 (HTTPS_PROXY): orders, platform' },
    { state: 'ok', found: 'none: orders-dr, inner' },
    { state: 'warn', found: expect.stringContaining('covers nothing: 10.0.0.0/99') },
  ]);
});

test('a variable that names no HTTP proxy is bad for the instances and the platform that use it', () => {
  vi.stubEnv('HTTPS_PROXY', 'socks5://proxy.example.net:1080');
  vi.stubEnv('NO_PROXY', 'example.org,192.0.2.0/24');
  expect(proxyChecks(config).map(({ state, what }) => `${state} ${what}`)).toEqual([
    'bad orders: proxy',
    'bad platform: proxy',
    'ok proxy',
  ]);
});
