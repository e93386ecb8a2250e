import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { tokenVariables } from '../../src/config/loaded.ts';

const config = (lab: unknown) =>
  parseConfig(JSON.stringify({ instances: {}, lab }), '/etc/lifeboat/lifeboat.yaml');
const token = { file: 'token' };

describe('the lab of a config', () => {
  test.each([
    'http://127.0.0.1:4000',
    'http://127.0.0.1:4000/',
    'http://127.9.8.7:80',
    'http://localhost:4000',
    'http://[::1]:4000',
    'http://127.0.0.1',
  ])('may be at %s', (url) => {
    expect(config({ url, token }).lab?.url).toBe(url);
  });

  test.each([
    'http://lab.example.com:4000',
    'https://dashboard.example.com/service-instances/1',
    'http://10.0.0.1:4000',
    'http://0.0.0.0:4000',
    'http://[::]:4000',
    'http://128.0.0.1:4000',
    'http://127.0.0.1.example.com:4000',
    'http://localhost.example.com:4000',
    'http://lab.localhost:4000',
    'http://127.0.0.1@example.com',
    'http://robin:secret@127.0.0.1:4000',
    'http://127.0.0.1:4000@example.com',
    'http://127.0.0.1:4000/lab',
    'http://127.0.0.1:4000?token=1',
    'http://127.0.0.1:99999',
    'http://127.0.0.999:4000',
    'http://127.0.0.1:4000\n@example.com',
    'ftp://127.0.0.1:4000',
    '127.0.0.1:4000',
    '',
  ])('is refused at %j, with an error that does not repeat it', (url) => {
    const words = 'lab.url: a lab runs on this machine: its url is http://127.0.0.1:PORT';
    expect(() => config({ url, token })).toThrow(words);
    expect(() => config({ url, token })).not.toThrow(/secret|@/u);
  });

  test.each([
    ['no token', { url: 'http://127.0.0.1:1' }],
    ['a token of the key store', { url: 'http://127.0.0.1:1', token: { keychain: true } }],
    ['a token itself', { url: 'http://127.0.0.1:1', token: 'abc' }],
    ['an unknown key', { url: 'http://127.0.0.1:1', token, faults: [] }],
  ])('is refused with %s', (_, lab) => {
    expect(() => config(lab)).toThrow(expect.objectContaining({ code: 'config.invalid' }));
  });

  test('has its token file relative to the folder of the config, and its variable is hidden from commands', () => {
    expect(config({ url: 'http://127.0.0.1:1', token }).lab?.token).toEqual({ file: '/etc/lifeboat/token' });
    const named = config({ url: 'http://127.0.0.1:1', token: { env: 'LAB_TOKEN' } });
    expect(tokenVariables(named)).toEqual(['LAB_TOKEN']);
  });
});
