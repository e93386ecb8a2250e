import { expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { json } from '../service/fault-server.ts';
import { rejection, serve } from '../service/serve.ts';

test.for([
  '-5',
  '1000000000',
  '99999999999999999999',
  '1e9',
  'soon',
  '',
  ' ',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  '0, 3600',
  'NaN',
])('a service with "Retry-After: %s" is asked again as if it had not sent it', async (wish) => {
  let turn = 0;
  const { client, server } = await serve((_, socket) => {
    turn += 1;
    socket.write(turn === 1 ? json(429, { error: 'busy' }, { 'retry-after': wish }) : json(200, []));
  });
  expect((await client.backups()).value).toEqual([]);
  expect(server.requests).toHaveLength(2);
});

test.for(['21', '3600', '999999999', 'Fri, 31 Dec 2999 23:59:59 GMT'])(
  'a service with "Retry-After: %s" is not waited for, and the requested time is shown',
  async (wish) => {
    const { client, server } = await serve((_, socket) =>
      socket.write(json(429, { error: 'busy' }, { 'retry-after': wish })),
    );
    const error = (await rejection(client.backups())) as LifeboatError;
    expect(error.hints.join()).toContain(`the service says to wait: Retry-After ${wish}`);
    expect(server.requests).toHaveLength(1);
  },
);

test.for(['1', '-1', '1000000000', 'soon'])(
  'the client sends a change that is refused with "Retry-After: %s" once: only a new intent sends it again',
  async (wish) => {
    const { client, server } = await serve((_, socket) =>
      socket.write(json(429, { error: 'busy' }, { 'retry-after': wish })),
    );
    expect(await client.createBackup()).toMatchObject({
      outcome: 'refused',
      failure: { code: 'service.busy' },
    });
    expect(server.requests).toHaveLength(1);
  },
);

test.for([
  { wish: '1', againMs: 1_000 },
  { wish: '20', againMs: 20_000 },
  { wish: '21', againMs: undefined },
  { wish: 'Fri, 31 Dec 2999 23:59:59 GMT', againMs: undefined },
])(
  'a change that is refused with "Retry-After: $wish" reports when to send it again: $againMs',
  async ({ wish, againMs }) => {
    const { client } = await serve((_, socket) =>
      socket.write(json(429, { error: 'busy' }, { 'retry-after': wish })),
    );
    const sent = await client.createBackup();
    expect(sent.outcome === 'refused' ? sent.againMs : 'not refused').toBe(againMs);
  },
);
