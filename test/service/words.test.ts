import { expect, test } from 'vitest';
import { json } from './fault-server.ts';
import { serve } from './serve.ts';

const BACKUP = { id: 3, status: 'done', triggered_at: '2021-04-21T01:30:03.832Z' };

test('a status in capitals is recognized, and an unknown one stays as received', async () => {
  const answers = [
    { ...BACKUP, status: 'DONE' },
    { ...BACKUP, status: 'Paused' },
  ];
  const { client } = await serve((_, socket) => socket.write(json(200, answers)));
  const { value, raw } = await client.backups();
  expect(value.map(({ status }) => status)).toEqual(['done', 'Paused']);
  expect(raw).toEqual(answers);
});
