import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { Awaited, Awaits } from '../../src/service/awaited.ts';
import { soon } from '../bench-kit/soon.ts';
import { json } from './fault-server.ts';
import { clientAt, serve } from './serve.ts';

/** What is awaited now. */
function watch(): { readonly now: Set<Awaited>; readonly awaits: Awaits } {
  const now = new Set<Awaited>();
  return {
    now,
    awaits: (awaited) => {
      now.add(awaited);
      return () => now.delete(awaited);
    },
  };
}

test('an unanswered read names its call and host, since when and until when', async () => {
  const { now, awaits } = watch();
  const answer = Promise.withResolvers<void>();
  const { client, server } = await serve(
    (_, socket) => void answer.promise.then(() => socket.write(json(200, []))),
    { awaits, limits: { readMs: 60_000 } },
  );
  const asked = client.backups();
  await soon(() =>
    expect([...now].map(({ what }) => what)).toEqual([
      `${new URL(server.origin).host} has not answered GET /v1/instances/…/backups`,
    ]),
  );
  const [{ sinceMs, untilMs } = { sinceMs: 0, untilMs: 0 }] = now;
  expect(Math.abs(untilMs - sinceMs - 60_000)).toBeLessThan(5_000);
  answer.resolve();
  await asked;
  expect([...now]).toEqual([]);
});

test('an unanswered change is reported until it is abandoned', async () => {
  const { now, awaits } = watch();
  const { client } = await serve(() => undefined, { awaits, limits: { sendMs: 300 } });
  const sent = client.createBackup();
  await soon(() =>
    expect([...now].map(({ what }) => what)).toEqual([
      expect.stringContaining('has not answered POST /v1/instances/…/backups'),
    ]),
  );
  expect(await sent).toMatchObject({ outcome: 'unknown' });
  expect([...now]).toEqual([]);
});

test('a source that returns no token is named', async () => {
  const { now, awaits } = watch();
  const token = Promise.withResolvers<Secret>();
  const client = clientAt('http://127.0.0.1:1', {
    awaits,
    token: () => token.promise,
    limits: { attempts: 1 },
  });
  const asked = client.overview().catch(() => undefined);
  await soon(() =>
    expect([...now].map(({ what }) => what)).toEqual(['the source of the access token has not given one']),
  );
  token.resolve(new Secret('bearer t'));
  await asked;
  expect([...now]).toEqual([]);
});
