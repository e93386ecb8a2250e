import { expect, test } from 'vitest';
import { HostPace } from '../../src/service/host-pace.ts';
import { json } from './fault-server.ts';
import { clientAt, rejection, serve } from './serve.ts';

const answered = (status: number, after?: string, url = 'https://one.example.com/v1/instances/i1') => ({
  url,
  status,
  answerHeaders: after === undefined ? {} : { 'retry-after': after },
});

/** A pace at a clock that stands still. */
function paceAt() {
  let now = Date.parse('2026-03-10T12:00:00Z');
  const pace = new HostPace(() => now);
  const wait = (url = 'https://one.example.com/other') => pace.waitMs(url);
  const pass = (ms: number) => {
    now += ms;
  };
  return { pace, wait, pass };
}

test('all instances of a host are spared for as long as it asks, and no other host', () => {
  const { pace, wait, pass } = paceAt();
  pace.hear(answered(429, '30'));
  expect(wait()).toBe(30_000);
  expect(wait('https://two.example.com/')).toBe(0);
  pass(29_000);
  expect(wait()).toBe(1_000);
  pass(1_000);
  expect(wait()).toBe(0);
});

test('the longest requested pause counts, and no answer keeps a host waiting for more than ten minutes', () => {
  const { pace, wait } = paceAt();
  pace.hear(answered(429, '30'));
  pace.hear(answered(429, '3'));
  expect(wait()).toBe(30_000);
  pace.hear(answered(503, '86400'));
  expect(wait()).toBe(600_000);
});

test('a 429 without a time asks for five seconds; a 503 without one, and any other answer, asks for none', () => {
  for (const [status, ms] of [
    [429, 5_000],
    [503, 0],
    [500, 0],
    [200, 0],
  ] as const) {
    const { pace, wait } = paceAt();
    pace.hear(answered(status));
    expect(wait(), String(status)).toBe(ms);
  }
});

test('a pause that one client was asked for, after a read or a refused change, holds back the reads of another', async () => {
  for (const changes of [false, true]) {
    const pace = new HostPace();
    const left: number[] = [];
    const { client, server } = await serve(
      (_, socket) => {
        if (server.requests.length > 1) left.push(pace.waitMs(server.origin));
        const isFirst = server.requests.length === 1;
        socket.write(isFirst ? json(429, { error: 'busy' }, { 'retry-after': '1' }) : json(200, []));
      },
      { pace, limits: { attempts: 1 } },
    );
    if (changes) expect(await client.createBackup()).toMatchObject({ outcome: 'refused' });
    else expect(await rejection(client.backups())).toMatchObject({ code: 'service.busy' });
    expect(pace.waitMs(server.origin)).toBeGreaterThan(0);
    await clientAt(server.origin, { pace }).backups();
    // A timer of Node may be early by a millisecond.
    expect(Math.max(...left)).toBeLessThan(5);
  }
});

test('a change is sent although its host has asked to be spared, and a read that is held back ends with its signal', async () => {
  const pace = new HostPace();
  const { client, server } = await serve((_, socket) => socket.write(json(201, { id: 7 })), { pace });
  pace.hear(answered(429, '600', `${server.origin}/v1`));
  expect(await client.createBackup()).toMatchObject({ outcome: 'accepted' });
  const stop = new AbortController();
  const read = rejection(client.backups(stop.signal));
  stop.abort();
  expect(await read).toMatchObject({ code: 'service.stopped' });
  expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
});
