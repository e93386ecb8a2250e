import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { curl, instanceOf, listBackups, run, startTestLab, temporaryFolder } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ revision: 61 });
});
afterAll(() => lab.close());

test('started_at and backup_id are in the list and in one backup', async () => {
  const [listed] = await listBackups(lab);
  const { json } = await curl(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups/1`);
  expect(listed).toMatchObject({ started_at: expect.stringMatching(/T.*Z$/), backup_id: expect.any(String) });
  expect(json).toEqual(listed);
});

test('creating a backup is 202, and 409 while one is in progress', async () => {
  const path = `${instanceOf(lab, 'orders').v1}/backups`;
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'task', outcome: 'queued' } });
  expect((await curl(lab, 'POST', path)).status).toBe(202);
  const busy = await curl(lab, 'POST', path);
  expect(busy).toMatchObject({ status: 409, json: { error: 'backupInProgress' } });
  expect(lab.calls()).toHaveLength(1);
  expect((await listBackups(lab))[0]).toMatchObject({ status: 'queued', started_at: undefined });
  lab.clearFaults();
});

test('the download is below V1, and its errors carry message and status', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const { status, json } = await curl(lab, 'GET', `${v1}/backups/999/download`);
  expect({ status, json }).toEqual({ status: 412, json: { message: expect.any(String), status: 412 } });
  const file = join(await temporaryFolder(), 'backup');
  const token = await readFile(lab.tokenFile, 'utf8');
  await run('curl', [
    '-sSf',
    '-o',
    file,
    '-H',
    `Authorization: ${token}`,
    `${lab.url}${v1}/backups/1/download`,
  ]);
  const bytes = await readFile(file);
  const [backup] = (await listBackups(lab)).toReversed();
  expect(bytes).toHaveLength(backup?.size ?? 0);
  const sidecar = await readFile(join(lab.folder, 'store', `${backup?.backup_id}.json`), 'utf8');
  expect(JSON.parse(sidecar)).toMatchObject({ sha256: createHash('sha256').update(bytes).digest('hex') });
});
