import { expect, test } from 'vitest';
import { baselineOf } from '../../src/activities/once-task.ts';
import { unreadWords } from '../../src/service/rows.ts';
import { json } from './fault-server.ts';
import { clientAt, rejection, serve } from './serve.ts';

const ROW = {
  backup_id: 'g-1',
  size: 2792,
  status: 'done',
  triggered_at: '2026-11-26T08:00:00.000Z',
  finished_at: '2026-11-26T08:00:30.000Z',
  downloadable: true,
};
const GOOD = { id: 1, ...ROW };
const AT = Date.parse(ROW.triggered_at);

const ODD: readonly (readonly [string, unknown, string, readonly (number | null)[] | undefined])[] = [
  [
    'a status of null',
    { id: 2, ...ROW, status: null },
    'backup 2 in the list cannot be read (status)',
    [2, AT],
  ],
  ['an id as text', { ...ROW, id: '2' }, 'backup 2 in the list cannot be read (id)', [2, AT]],
  ['a size as text', { id: 2, ...ROW, size: '2792' }, 'backup 2 in the list cannot be read (size)', [2, AT]],
  ['no row', null, 'a row of the list of backups cannot be read', undefined],
  [
    'a text for `downloadable`',
    { id: 2, ...ROW, downloadable: 'true' },
    'backup 2 in the list cannot be read (downloadable)',
    [2, AT],
  ],
  [
    'a number for a date',
    { id: 2, ...ROW, triggered_at: 1795680000 },
    'backup 2 in the list cannot be read (triggered_at)',
    [2, null],
  ],
];

test.for(ODD)('%s in a list of backups hides no other row', async ([, row, words, listed]) => {
  const { client } = await serve((_, socket) => socket.write(json(200, [row, GOOD])));
  const { value, unread, raw } = await client.backups();
  expect(value).toEqual([GOOD]);
  expect(raw).toEqual([GOOD]);
  expect(unreadWords('backup', unread)).toEqual([`${words} and is passed over`]);
  const baseline = await baselineOf({ service: client }, 'backups', new AbortController().signal);
  expect(baseline).toMatchObject({
    output: { tasks: listed === undefined ? [[1, AT]] : [[1, AT], listed] },
  });
});

test('an invalid date is shown as received', async () => {
  const odd = { id: 2, ...ROW, finished_at: 'in a moment' };
  const { client } = await serve((_, socket) => socket.write(json(200, [GOOD, odd])));
  expect(await client.backups()).toMatchObject({ value: [GOOD, odd], raw: [GOOD, odd] });
});

test('a list in which no row has an id is not a list of backups', async () => {
  const { client } = await serve((_, socket) => socket.write(json(200, [null, 'login'])));
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.bad-answer' });
});

test('the listing of V0 is read row by row as well', async () => {
  const task = { id: 7, task_id: 1, status: 'done', created_at: ROW.triggered_at };
  const backups = [
    { id: 1, backup_agent_task: task },
    { id: 2, backup_agent_task: { ...task, status: null } },
  ];
  const restores = [null, { id: 3, backup_agent_tasks: [task] }];
  const { server } = await serve((_, socket) => socket.write(json(200, { id: 4, backups, restores })));
  const client = clientAt(server.origin, { revision: 'v0' });
  const own = await client.backups();
  expect(own.value.map(({ id }) => id)).toEqual([1]);
  expect(own.unread).toMatchObject([{ id: 2 }]);
  expect((await client.restores()).unread).toMatchObject([{ id: undefined }]);
  expect(await rejection(client.backup(2))).toMatchObject({
    code: 'service.bad-answer',
    shortMessage: expect.stringContaining('with id 2 cannot be read (backup_agent_task.status)'),
  });
});
