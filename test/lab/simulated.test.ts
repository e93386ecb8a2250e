import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { parseConfig } from '../../src/config/load.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import {
  ask,
  backUp,
  call,
  curl,
  instanceOf,
  listBackups,
  openTar,
  restoreEnded,
  run,
  temporaryFolder,
  until,
} from './helpers.ts';

const SOURCE = 'sim-00001';
const TARGET = 'sim-00001-dr';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ simulated: { sources: 200 } });
});
afterAll(() => lab.close());

const v1 = (name: string) => instanceOf(lab, name).v1;
const Id = z.object({ id: z.int() });

test('its config has each source with its target, and says where the lab is', () => {
  const { instances, lab: named, platform } = parseConfig(lab.configYaml, '/etc/lifeboat.yaml');
  expect(Object.keys(instances)).toHaveLength(400);
  expect(instances[SOURCE]).toMatchObject({
    url: `${lab.url}/service-instances/${instanceOf(lab, SOURCE).guid}`,
    role: 'source',
    target: TARGET,
    tags: ['region-1', 'tier-1'],
    rehearsal: true,
    apps: [],
  });
  expect(instances[TARGET]).toMatchObject({ role: 'target', tags: [], rehearsal: true });
  expect(named?.url).toBe(lab.url);
  expect(platform).toBe('none');
});

test('every answer says that it is simulated, including refusals and answers about the lab', async () => {
  const authorization = await readFile(lab.tokenFile, 'utf8');
  for (const path of [v1(SOURCE), `${v1(SOURCE)}/backups`, '/v1/instances/none', '/lab', '/openapi.json']) {
    const answer = await fetch(`${lab.url}${path}`, { headers: { authorization } });
    expect(answer.headers.get('lifeboat-lab'), path).toBe('simulated');
    await answer.body?.cancel();
  }
  expect((await fetch(`${lab.url}/lab`)).headers.get('lifeboat-lab')).toBe('simulated');
  expect((await call(lab, 'GET', '/lab')).json).toMatchObject({
    simulated: true,
    engine: expect.stringContaining('nothing is restored'),
  });
});

test('a backup is an archive that openssl opens with the key, and it says that it holds no data', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'backup.tgz.enc');
  const { id, size } = await backUp(lab, SOURCE);
  const token = await readFile(lab.tokenFile, 'utf8');
  const path = `${instanceOf(lab, SOURCE).v0}/backups/${id}/download`;
  await run('curl', ['-sS', '-fL', '-o', file, '-H', `Authorization: ${token}`, `${lab.url}${path}`]);
  expect((await readFile(file)).length).toBe(size);
  await writeFile(join(folder, 'backup.tar'), await buffer(openTar(file, lab.keyFile)));
  const { stdout } = await run('tar', ['-xOf', join(folder, 'backup.tar'), 'SIMULATED.txt']);
  expect(stdout).toContain('holds no data');
});

test('a recovery needs the right key and ends as at the service; a wrong key fails its task', async () => {
  const prepared = await ask(lab, 'POST', `${v1(SOURCE)}/disaster-recovery/prepare`, { body: {} });
  const { backup_guid } = z.object({ backup_guid: z.string() }).parse(prepared.json);
  const perform = async (key: string) => {
    const body = { backup_guid, encryption_key: key };
    const { json } = await ask(lab, 'POST', `${v1(TARGET)}/disaster-recovery/perform`, { body });
    const { restore_id } = z.object({ restore_id: z.int() }).parse(json);
    return (await restoreEnded(lab, restore_id, TARGET)).status;
  };
  expect(await perform('not the key of this instance')).toBe('failed');
  expect(await perform(await readFile(lab.keyFile, 'utf8'))).toBe('done');
  expect((await ask(lab, 'GET', v1(TARGET))).json).toMatchObject({ state: 'available' });
});

test('a new key applies to backups from then on, and earlier ones keep theirs', async () => {
  const name = 'sim-00002';
  const folder = await temporaryFolder();
  const body = { encryption_key: 'another key of the test' };
  expect((await ask(lab, 'PATCH', `${v1(name)}/backups-config`, { body })).status).toBe(200);
  await backUp(lab, name);
  const [newest, first] = await listBackups(lab, name);
  expect([newest?.downloadable, first?.downloadable]).toEqual([true, false]);
  await writeFile(join(folder, 'key'), body.encryption_key);
  const token = await readFile(lab.tokenFile, 'utf8');
  const path = `${instanceOf(lab, name).v0}/backups/${newest?.id}/download`;
  await run('curl', [
    '-sS',
    '-fL',
    '-o',
    join(folder, 'b'),
    '-H',
    `Authorization: ${token}`,
    `${lab.url}${path}`,
  ]);
  expect((await buffer(openTar(join(folder, 'b'), join(folder, 'key')))).toString()).toContain('SIMULATED');
});

test('restores, points in time, actions and the old interface answer as they do on databases', async () => {
  const name = 'sim-00003';
  const { json } = await ask(lab, 'POST', `${v1(name)}/backups/1/restore`);
  expect((await restoreEnded(lab, Id.parse(json).id, name)).status).toBe('done');
  const range = z.object({ end_time: z.string() }).parse((await ask(lab, 'GET', `${v1(name)}/pitr`)).json);
  const body = { target_time: range.end_time };
  expect((await ask(lab, 'POST', `${v1(name)}/pitr/restore`, { body })).json).toMatchObject({
    status: expect.stringMatching(/^(?:queued|running)$/u),
  });
  expect((await restoreEnded(lab, 2, name)).status).toBe('done');
  expect((await ask(lab, 'GET', `${v1(TARGET)}/pitr`)).status).toBe(404);
  for (const action of ['restart', 'recreate'])
    expect((await ask(lab, 'PATCH', `${v1(name)}/${action}`)).status).toBe(202);
  await until('it is available', async () => {
    const { state } = z.object({ state: z.string() }).parse((await ask(lab, 'GET', v1(name))).json);
    return state === 'available' ? true : undefined;
  });
  expect((await ask(lab, 'GET', `${instanceOf(lab, name).v0}/backups`)).json).toMatchObject({
    backups: [{ id: 1 }],
    restores: [{ id: 2 }, { id: 1 }],
  });
  const metrics = await until('there are metrics', async () => {
    const points = z.array(z.string()).parse((await ask(lab, 'GET', `${v1(name)}/metrics`)).json);
    return points.length > 0 ? points : undefined;
  });
  expect(metrics[0]).toMatch(/^postgresql\.0\./u);
});

test('a lost instance is unreachable, its backups stay, and it comes back', async () => {
  const name = 'sim-00004';
  const guid = z.object({ backup_guid: z.string() });
  const prepared = await ask(lab, 'POST', `${v1(name)}/disaster-recovery/prepare`, { body: {} });
  await lab.disaster(name, true);
  expect((await call(lab, 'GET', v1(name))).status).toBe(502);
  const key = await readFile(lab.keyFile, 'utf8');
  const body = { backup_guid: guid.parse(prepared.json).backup_guid, encryption_key: key };
  const { json } = await ask(lab, 'POST', `${v1(`${name}-dr`)}/disaster-recovery/perform`, { body });
  const { restore_id } = z.object({ restore_id: z.int() }).parse(json);
  expect((await restoreEnded(lab, restore_id, `${name}-dr`)).status).toBe('done');
  await lab.disaster(name, false);
  expect((await call(lab, 'GET', v1(name))).status).toBe(200);
});

test('a request for data is refused, since there is none', async () => {
  const { query } = instanceOf(lab, SOURCE);
  await expect(query('select 1')).rejects.toMatchObject({ code: 'lab.simulated' });
  expect((await curl(lab, 'POST', `/lab/instances/${SOURCE}/bindings`, { body: { app: 'a' } })).status).toBe(
    502,
  );
});
