import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, backupEnded, curl, instanceOf, restoreEnded, run, temporaryFolder } from './helpers.ts';

const Listing = z.object({
  id: z.int(),
  instance_id: z.string(),
  backups: z.array(z.object({ id: z.int(), instance_id: z.int(), backup_agent_task: z.looseObject({}) })),
  restores: z.array(z.object({ id: z.int(), backup_agent_tasks: z.array(z.looseObject({})) })),
});

const INSTANCES = [{ name: 'orders', key: true }, { name: 'orders-dr' }];

let labs: { readonly 61: Lab; readonly 62: Lab };
beforeAll(async () => {
  const [old, present] = await Promise.all([
    startTestLab({ revision: 61, instances: INSTANCES }),
    startTestLab({ instances: INSTANCES }),
  ]);
  labs = { 61: old, 62: present };
});
afterAll(() => Promise.all([labs[61].close(), labs[62].close()]));

describe.each([61, 62] as const)('V0 beside revision %i', (revision) => {
  let lab: Lab;
  beforeAll(() => {
    lab = labs[revision];
  });

  const listing = async () =>
    Listing.parse((await ask(lab, 'GET', `${instanceOf(lab, 'orders').v0}/backups`)).json);

  test('lists backups and restores with their tasks', async () => {
    const { guid } = instanceOf(lab, 'orders');
    const { id, instance_id, backups } = await listing();
    expect(instance_id).toBe(guid);
    expect(backups[0]).toMatchObject({
      id: 1,
      instance_id: id,
      backup_agent_task: { task_id: 1, status: 'done' },
    });
    expect((await ask(lab, 'GET', `${instanceOf(lab, 'orders-dr').v0}/backups`)).json).toMatchObject({
      backups: [],
      restores: [],
    });
  });

  test('creates a backup with 201, and restores it by internal ids with 200', async () => {
    const { v0, query } = instanceOf(lab, 'orders');
    const created = await ask(lab, 'POST', `${v0}/backups`);
    expect(created).toMatchObject({ status: 201, json: { id: 2, message: expect.any(String) } });
    const backup = await backupEnded(lab, 2);
    expect(backup.status).toBe('done');
    await query('create table later (n int)');
    const { id: instance_id } = await listing();
    const body = { instance_id, backup_id: backup.id };
    const { json } = await ask(lab, 'POST', `${v0}/backups/restore`, { body });
    const { restore_id } = z.object({ restore_id: z.int() }).parse(json);
    expect(await restoreEnded(lab, restore_id)).toMatchObject({ status: 'done', backup_id: backup.id });
    await expect(query('select from later')).rejects.toThrow('does not exist');
    expect((await listing()).restores).toMatchObject([
      { id: restore_id, backup_agent_tasks: [{ task_id: restore_id, status: 'done' }] },
    ]);
    const wrong = [
      { instance_id, backup_id: 999 },
      { instance_id: instance_id + 1, backup_id: backup.id },
      { instance_id: String(instance_id), backup_id: backup.id },
      {},
    ];
    for (const other of wrong) {
      const refused = await ask(lab, 'POST', `${v0}/backups/restore`, { body: other });
      expect(refused.status, JSON.stringify(other)).toBe(412);
    }
    const nowhere = '/service-instances/00000000-0000-4000-8000-000000000000/backups';
    expect((await ask(lab, 'POST', `${nowhere}/restore`, { body })).status).toBe(412);
    expect((await ask(lab, 'GET', nowhere)).status).toBe(404);
  });

  test('a download by POST has the same bytes as one by GET', async () => {
    const { v0 } = instanceOf(lab, 'orders');
    const token = await readFile(lab.tokenFile, 'utf8');
    const folder = await temporaryFolder();
    const sums: string[] = [];
    for (const method of ['GET', 'POST']) {
      const file = join(folder, method);
      const url = `${lab.url}${v0}/backups/1/download`;
      await run('curl', ['-sSfL', '-X', method, '-o', file, '-H', `Authorization: bearer ${token}`, url]);
      sums.push(
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      );
    }
    expect(sums[0]).toBe(sums[1]);
    const refused = await curl(lab, 'POST', `${v0}/backups/999/download`);
    expect(refused).toMatchObject({ status: 412, json: { msg: expect.any(String) } });
  });
});

describe('the sign-on before V0', () => {
  let lab: Lab;
  beforeAll(() => {
    lab = labs[62];
  });

  /** curl with exactly these arguments; the head of every answer on the way, then the last body. */
  const raw = async (path: string, ...args: readonly string[]) =>
    (await run('curl', ['-sSi', ...args, `${lab.url}${path}`])).stdout;
  const authorization = async (file = lab.tokenFile) =>
    `Authorization: bearer ${await readFile(file, 'utf8')}`;
  const statuses = (heads: string) => [...heads.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);

  test('leads a client through a login page, with a cookie jar and without', async () => {
    const { v0 } = instanceOf(lab, 'orders');
    const path = `${v0}/backups?page=1`;
    const header = await authorization();
    expect(statuses(await raw(path, '-H', header))).toEqual(['302']);
    const followed = await raw(path, '-L', '-H', header);
    expect(statuses(followed)).toEqual(['302', '302', '200']);
    expect(followed).toMatch(/^set-cookie: lab_session=[\w-]+; Path=\/; HttpOnly; SameSite=Lax/im);
    expect(followed).toMatch(/^location: \/service-instances\/[^\n]*\?page=1&ticket=/im);
    const jar = join(await temporaryFolder(), 'jar');
    expect(statuses(await raw(path, '-L', '-c', jar, '-b', jar, '-H', header))).toEqual([
      '302',
      '302',
      '200',
    ]);
    // From now on the cookie alone is enough.
    expect(statuses(await raw(path, '-b', jar))).toEqual(['200']);
    expect(statuses(await raw(path, '-b', jar, '-H', header))).toEqual(['200']);
    // It is a matter of the dashboard address only.
    expect(statuses(await raw(instanceOf(lab, 'orders').v1, '-b', jar))).toEqual(['401']);
  });

  test('a session may do what the token that opened it may', async () => {
    const { v0 } = instanceOf(lab, 'orders-dr');
    const jar = join(await temporaryFolder(), 'jar');
    const readOnly = await authorization(join(dirname(lab.tokenFile), 'token-readonly'));
    await raw(`${v0}/backups`, '-L', '-c', jar, '-b', jar, '-H', readOnly);
    expect(statuses(await raw(`${v0}/backups`, '-b', jar))).toEqual(['200']);
    expect(statuses(await raw(`${v0}/backups`, '-b', jar, '-X', 'POST'))).toEqual(['403']);
  });

  test('a POST is never redirected, and gets a cookie', async () => {
    const { v0 } = instanceOf(lab, 'orders-dr');
    const posted = await raw(`${v0}/backups`, '-X', 'POST', '-H', await authorization());
    expect(statuses(posted)).toEqual(['201']);
    const cookie = /^set-cookie: (?<pair>[^;\r]+)/im.exec(posted)?.groups?.['pair'] ?? '';
    expect(statuses(await raw(`${v0}/backups`, '-H', `Cookie: ${cookie}`))).toEqual(['200']);
  });

  test('a wrong token, an invented cookie or a used ticket is refused', async () => {
    const { v0 } = instanceOf(lab, 'orders');
    const path = `${v0}/backups`;
    expect(statuses(await raw(path, '-L', '-H', 'Authorization: bearer wrong'))).toEqual(['401']);
    expect(statuses(await raw(path, '-L', '-H', 'Cookie: lab_session=wrong'))).toEqual(['401']);
    expect(statuses(await raw('/sso/login?code=wrong'))).toEqual(['401']);
    const followed = await raw(path, '-L', '-H', await authorization());
    const [, ticket = ''] = /ticket=([\w-]+)/.exec(followed) ?? [];
    expect(ticket).not.toBe('');
    expect(statuses(await raw(`${path}?ticket=${ticket}`))).toEqual(['401']);
    const [, code = ''] = /code=([\w-]+)/.exec(followed) ?? [];
    expect(statuses(await raw(`/sso/login?code=${code}`))).toEqual(['401']);
  });
});
