import { expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { addressFrom } from '../../src/service/address.ts';
import { skewMs } from '../../src/service/client.ts';

const ID = 'db8d8ad3-0000-4000-8000-000000000000';

test('both addresses follow from either', () => {
  for (const path of [
    '/service-instances',
    '/v1/instances',
    '/shared/x/service-instances',
    '/shared/x/v1/instances',
  ]) {
    const prefix = path.replace(/\/(?:service-instances|v1\/instances)$/u, '');
    for (const end of ['', '/']) {
      expect(addressFrom(`https://pg.example.com:8443${path}/${ID}${end}`, 61)).toEqual({
        id: ID,
        revision: 61,
        origin: 'https://pg.example.com:8443',
        v1: `https://pg.example.com:8443${prefix}/v1/instances/${ID}`,
        v0: `https://pg.example.com:8443${prefix}/service-instances/${ID}`,
        insecure: false,
      });
    }
  }
});

test('plain http is insecure to another machine', () => {
  const insecure = (host: string) => addressFrom(`http://${host}/service-instances/i`, 62).insecure;
  for (const host of ['127.0.0.1:1', '127.9.9.9', 'localhost', 'lab.localhost', '[::1]:80']) {
    expect(insecure(host)).toBe(false);
  }
  for (const host of ['pg.example.com', '10.0.0.1', '127.0.0.1.example.com', 'notlocalhost', '[::2]']) {
    expect(insecure(host)).toBe(true);
  }
});

const WRONG: readonly (readonly [string, string])[] = [
  ['hello', 'is not a URL'],
  ['', 'is not a URL'],
  ['ftp://h/service-instances/i', 'is not an http address'],
  ['file:///service-instances/i', 'is not an http address'],
  ['https://user:hunter2@h/service-instances/i', 'holds credentials'],
  ['https://token-hunter2@h/service-instances/i', 'holds credentials'],
  ['https://h/service-instances/i?token=1', 'has a query'],
  ['https://h/service-instances/i#x', 'has a query or a fragment'],
  ['https://user:hunter2@h/', 'holds credentials'],
  ['user:hunter2@h/service-instances/i', 'is not an http address'],
  ['h/service-instances/i?token=hunter2', 'is not a URL'],
  ['https://h:99999/service-instances/i?token=hunter2', 'is not a URL'],
  ['ftp://h/service-instances/i?token=hunter2', 'is not an http address'],
  ['https://h/service-instances/i?token=hunter2', 'has a query'],
  ['https://h/service-instances/i#hunter2', 'has a query or a fragment'],
  ['https://h/', 'does not name an instance'],
  ['https://h/service-instances/', 'does not name an instance'],
  ['https://h/service-instances/i/backups', 'does not name an instance'],
  ['https://h/service-instances/a%2fb', 'does not name an instance'],
  ['https://h/instances/i', 'does not name an instance'],
  ['https://h/service-instances/../i', 'does not name an instance'],
];
for (const [url, words] of WRONG) {
  test(`the url "${url}" is refused: it ${words}`, () => {
    let thrown: unknown;
    try {
      addressFrom(url, 62);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'config.url', exitCode: 2 });
    expect((thrown as LifeboatError).shortMessage).toContain(words);
    expect((thrown as LifeboatError).shortMessage).not.toContain('hunter2');
  });
}

test('the skew of a clock is known as precisely as one answer allows', () => {
  const date = new Date('2026-01-01T00:00:10Z');
  const at = (ms: number) => new Date(date.getTime() + ms);
  // Wherever the true moment lies within the second of the header and within the exchange, it is inside the
  // bounds.
  for (const [trueSkew, sent, received, generated] of [
    [0, 100, 300, 200],
    [5000, 100, 300, 150],
    [-90_000, 0, 20_000, 13_000],
  ] as const) {
    const server = Math.floor((date.getTime() + generated + trueSkew) / 1000) * 1000;
    const { skewMs: skew, uncertaintyMs } = skewMs(new Date(server), at(sent), at(received));
    expect(Math.abs(skew - trueSkew)).toBeLessThanOrEqual(uncertaintyMs);
    expect(uncertaintyMs).toBe((received - sent + 1000) / 2);
  }
});
