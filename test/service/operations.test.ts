import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { Leave } from '../../src/service/call.ts';
import type { SendOutcome, ServiceClient } from '../../src/service/client.ts';
import type { Operation, Revision } from '../../src/service/revisions.ts';
import { answer, json } from './fault-server.ts';
import { clientAt, serve } from './serve.ts';

const KEY = 'k-77-very-secret-key';
const GUID = '3a2e59ee-40cb-472a-91d0-502ab259918c';

const V0_HAS: readonly Operation[] = ['createBackup', 'restoreBackup'];
const WRONG_TYPES = {
  id: 'four',
  message: 5,
  backup_guid: 7,
  restore_id: -1,
  allowed_update_time: { type: 'general' },
  status: null,
};

interface Send {
  readonly operation: Operation;
  readonly revisions: readonly Revision[];
  readonly request: string;
  readonly body?: unknown;
  /** A documented success, and what the caller gets from it. */
  readonly success: readonly [number, unknown];
  readonly value: unknown;
  /** What the caller gets from a success without a readable body. */
  readonly bare: unknown;
  readonly call: (client: ServiceClient, leave?: Leave) => Promise<SendOutcome<unknown>>;
}

const SENDS: readonly Send[] = [
  {
    operation: 'createBackup',
    revisions: [61, 62],
    request: 'POST /backups',
    success: [200, { id: 7, message: 'queued' }],
    value: { id: 7, message: 'queued' },
    bare: { id: undefined, message: undefined },
    call: (client, leave) => client.createBackup(leave),
  },
  {
    operation: 'restoreBackup',
    revisions: [61, 62],
    request: 'POST /backups/3/restore',
    success: [200, { id: 9 }],
    value: { id: 9 },
    bare: { id: undefined },
    call: (client, leave) => client.restoreBackup(3, leave),
  },
  {
    operation: 'changeBackupsConfig',
    revisions: [61, 62],
    request: 'PATCH /backups-config',
    body: { encryption_key: KEY, retention_time: 0, exclude_from_auto_backup: false },
    success: [200, { message: 'set' }],
    value: { message: 'set' },
    bare: { message: undefined },
    call: (client, leave) =>
      client.changeBackupsConfig(
        { encryption_key: new Secret(KEY), retention_time: 0, exclude_from_auto_backup: false },
        leave,
      ),
  },
  {
    operation: 'prepareRecovery',
    revisions: [61, 62],
    request: 'POST /disaster-recovery/prepare',
    body: { encryption_key: KEY },
    success: [200, { backup_guid: GUID }],
    value: { backupGuid: GUID },
    bare: { backupGuid: undefined },
    call: (client, leave) => client.prepareRecovery({ key: new Secret(KEY) }, leave),
  },
  {
    operation: 'performRecovery',
    revisions: [61, 62],
    request: 'POST /disaster-recovery/perform',
    body: { backup_guid: GUID, encryption_key: KEY },
    success: [200, { restore_id: 4 }],
    value: { restoreId: 4 },
    bare: { restoreId: undefined },
    call: (client, leave) => client.performRecovery({ backupGuid: GUID, key: new Secret(KEY) }, leave),
  },
  {
    operation: 'recreate',
    revisions: [61, 62],
    request: 'PATCH /recreate',
    success: [202, { message: 'on its way' }],
    value: { message: 'on its way' },
    bare: { message: undefined },
    call: (client, leave) => client.recreate(leave),
  },
  {
    operation: 'restart',
    revisions: [61, 62],
    request: 'PATCH /restart',
    success: [202, {}],
    value: { message: undefined },
    bare: { message: undefined },
    call: (client, leave) => client.restart(leave),
  },
  {
    operation: 'update',
    revisions: [61, 62],
    request: 'PATCH /updates',
    body: { service_id: 's-1' },
    success: [202, null],
    value: { message: undefined },
    bare: { message: undefined },
    call: (client, leave) => client.update({ serviceId: 's-1' }, leave),
  },
  {
    operation: 'changeUpdateSetting',
    revisions: [61],
    request: 'PATCH /broker/edit',
    body: { allowed_update_time: { type: 'general', allowed: false } },
    success: [200, { allowed_update_time: { type: 'general', allowed: false }, id: GUID }],
    value: { setting: { type: 'general', allowed: false } },
    bare: { setting: undefined },
    call: (client, leave) => client.changeUpdateSetting({ type: 'general', allowed: false }, leave),
  },
  {
    operation: 'restoreToTime',
    revisions: [62],
    request: 'POST /pitr/restore',
    body: { target_time: '2022-02-01T21:00:00.000Z' },
    success: [202, { status: 'queued' }],
    value: { status: 'queued' },
    bare: { status: undefined },
    call: (client, leave) => client.restoreToTime('2022-02-01T21:00:00.000Z', leave),
  },
];

for (const send of SENDS) {
  const revision = send.revisions[0] ?? 62;
  const options = { revision };

  test(`${send.operation} sends ${send.request} once, with its body and no other`, async () => {
    for (const one of send.revisions) {
      const { client, server } = await serve((_, socket) => socket.write(json(...send.success)), {
        revision: one,
      });
      expect(client.supports(send.operation)).toBe(true);
      const outcome = await send.call(client);
      expect(outcome).toMatchObject({ outcome: 'accepted', status: send.success[0] });
      expect(outcome).toHaveProperty('value', send.value);
      const [request] = server.requests;
      expect(server.requests).toHaveLength(1);
      expect(`${request?.method} ${request?.path}`).toBe(send.request.replace(' ', ' /v1/instances/i1'));
      expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(send.body);
      expect(inspect(outcome, { depth: 9 })).not.toContain(KEY);
    }
  });

  const ODD: readonly (readonly [string, string])[] = [
    ['an empty body', answer(send.success[0], '')],
    ['a list', answer(send.success[0], '[1]')],
    ['a number', answer(send.success[0], '5')],
    ['cut JSON', answer(send.success[0], '{"id": 4, "mess')],
    ['plain text', answer(send.success[0], 'fine', { 'content-type': 'text/plain' })],
    ['fields of other types', json(send.success[0], WRONG_TYPES)],
    ['a body that breaks off', `HTTP/1.1 ${send.success[0]} OK\r\ncontent-length: 90\r\n\r\n{"id"`],
    ['an empty 202', answer(202, '')],
    ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ];
  for (const [what, bytes] of ODD) {
    test(`${send.operation} answered with ${what} is accepted`, async () => {
      const { client, server } = await serve((_, socket) => socket.end(bytes), options);
      expect(await send.call(client)).toMatchObject({ outcome: 'accepted', value: send.bare });
      expect(server.requests).toHaveLength(1);
    });
  }

  test(`${send.operation} with another 2xx is accepted if its body can be read, and in doubt otherwise`, async () => {
    const bodies = [JSON.stringify(send.success[1] ?? {}), 'ok', ''];
    const { client } = await serve((_, socket) => socket.end(answer(203, bodies.shift() ?? '')), options);
    expect(await send.call(client)).toMatchObject({ outcome: 'accepted', value: send.value });
    for (const _ of [1, 2]) {
      expect(await send.call(client)).toMatchObject({
        outcome: 'unknown',
        failure: { code: 'service.bad-answer' },
      });
    }
  });

  test(`${send.operation} is refused by the service's own words, and in doubt by anything less`, async () => {
    const answers = [
      [json(404, { error: 'notFound', description: 'no such thing' }), 'refused', 'service.not-found'],
      [json(422, { error: 'invalidParameters' }), 'refused', 'service.invalid'],
      [answer(401, ''), 'refused', 'credentials.refused'],
      [json(404, { error: 'Not Found', status: 404, path: '/x' }), 'unknown', 'service.not-found'],
      [json(403, { message: 'Forbidden' }), 'unknown', 'service.forbidden'],
      [json(409, { error: 'inProgress' }), 'unknown', 'service.conflict'],
      [answer(302, '', { location: '/login' }), 'unknown', 'service.redirect'],
      [answer(504, ''), 'unknown', 'service.error'],
    ] as const;
    let turn = 0;
    const { client, server } = await serve((_, socket) => socket.end(answers[turn]?.[0] ?? ''), options);
    for (const [, outcome, code] of answers) {
      expect(await send.call(client)).toMatchObject({ outcome, failure: { code } });
      turn += 1;
    }
    expect(server.requests).toHaveLength(answers.length);
  });

  test(`${send.operation} is in doubt if lost, and reported as never sent if it was`, async () => {
    const { client, server } = await serve((_, socket) => socket.resetAndDestroy(), options);
    expect(await send.call(client)).toMatchObject({
      outcome: 'unknown',
      failure: { code: 'service.reset' },
    });
    expect(await send.call(client, { signal: AbortSignal.abort(), mayLeave: () => undefined })).toMatchObject(
      { outcome: 'never-sent' },
    );
    expect(server.requests).toHaveLength(1);
    // A port that was closed just now may be in use again; on this one nothing listens.
    expect(await send.call(clientAt('http://127.0.0.1:1', options))).toMatchObject({
      outcome: 'never-sent',
      failure: { code: 'service.unreachable' },
    });
  });

  for (const lacking of ([61, 62, 'v0'] as const).filter(
    (one) => !send.revisions.includes(one) && !(one === 'v0' && V0_HAS.includes(send.operation)),
  )) {
    test(`revision ${lacking} has no ${send.operation}: nothing is sent`, async () => {
      const { client, server } = await serve(() => undefined, { revision: lacking });
      expect(client.supports(send.operation)).toBe(false);
      const outcome = await send.call(client);
      expect(outcome).toMatchObject({ outcome: 'never-sent', failure: { code: 'service.unsupported' } });
      const able =
        send.revisions.length > 1
          ? 'revision 61 and revision 62 can'
          : `only revision ${send.revisions[0]} can`;
      expect(outcome).toHaveProperty('failure.hints.0', able);
      expect(server.connections()).toBe(0);
    });
  }
}

test('an action without a documented body may answer a plain 200, and one with a body may not', async () => {
  const { client } = await serve((_, socket) => socket.end(answer(200, '')));
  for (const act of [client.recreate(), client.restart(), client.update({ serviceId: 's' })]) {
    expect(await act).toMatchObject({ outcome: 'accepted', status: 200 });
  }
  expect(await client.restoreToTime('2022-02-01T21:00:00Z')).toMatchObject({ outcome: 'unknown' });
});

test('prepared without a key, no key is sent', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, { backup_guid: GUID })));
  expect(await client.prepareRecovery()).toMatchObject({ outcome: 'accepted', value: { backupGuid: GUID } });
  expect(server.requests[0]?.body).toBe('{}');
});
