import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { outputOf, typesOf } from '../bench-kit/entries-of.ts';
import { PROFILES, type Profile } from '../bench-kit/foreign/pack.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { changes, useBenches, useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('a rotation against a foreign service', () => {
  const bench = useQuickBenches();
  const benchWithRealVault = useBenches({ cheapVault: false });
  const combinations = ([61, 62] as const).flatMap((revision) =>
    (['md5', 'sha256', 'pbkdf2'] as const).map((profile) => ({ revision, profile })),
  );

  test.for(combinations)(
    'is proven in revision $revision with $profile, and openssl agrees',
    async ({ revision, profile }, context) => {
      const { expect } = context;
      const { server, rotate, here, entries, vault } = await bench(context, { revision, profile });
      const { code, stdout, stderr } = await rotate();
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('the key is rotated and proven');
      expect(stdout).toMatch(/^this run leaves for later: retire key [0-9a-f]{12} of orders/mu);
      expect(changes(server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });

      const journal = await entries();
      expect(typesOf(journal, 'instance')).toEqual([
        'key.proven',
        'key.pending',
        'key.sent',
        'key.set',
        'key.proven',
        'follow-up.opened',
      ]);
      const key = server.keys.at(-1) ?? '';
      expect([...(await vault()).values()].toSorted()).toEqual([CANARIES.oldKey, key].toSorted());
      const { path } = outputOf(journal, 'download') as { path: string };
      expect(await listWithOpenssl(path, profile, key)).toEqual([
        './',
        './PG_VERSION',
        './base/',
        './base/1259',
      ]);
      expect(await listWithOpenssl(path, profile, CANARIES.oldKey)).toEqual([]);

      const audit = await here('audit', 'verify');
      expect(audit.code, audit.stdout).toBe(0);
      expect(audit.stdout).toContain('intact, up to the newest checkpoint of each place: ');
    },
  );

  test('begins from nothing: no home, no vault, a key in a file', async (context) => {
    const { expect } = context;
    const { server, home, folder, here, run, rotate, vault } = await benchWithRealVault(context, {
      firstDay: true,
    });
    await writeFile(`${folder}/key`, `${CANARIES.oldKey}\n`, { mode: 0o600 });
    const added = await run('keys', 'add', 'orders', '--file', `${folder}/key`);
    expect(added.code, added.stderr).toBe(0);
    expect((await rotate()).code).toBe(0);
    expect([...(await vault()).values()].toSorted()).toEqual([...server.keys].toSorted());
    expect(await readFile(`${home}/vault.age`, 'latin1')).toMatch(
      /^age-encryption\.org\/v1\n-> scrypt \S+ 17\n/,
    );
    const listed = await here('keys', 'list', 'orders', '--json');
    expect(itemsIn(listed.stdout)).toEqual(
      expect.arrayContaining([expect.objectContaining({ state: 'proven' })]),
    );
  });

  test('the last proof under the old key is on record before the key is changed', async (context) => {
    const { expect } = context;
    const { here, run, server } = await bench(context);
    const { code } = await run('run', 'rotate-key', '--instance', 'orders', '--yes');
    expect(code).toBe(3);
    const listed = await here('keys', 'list', 'orders', '--json');
    expect(itemsIn(listed.stdout)).toContainEqual(
      expect.objectContaining({ state: 'proven', provenAt: expect.stringMatching(/./) }),
    );
    const status = itemsIn((await here('status', '--json')).stdout);
    expect(status).toContainEqual(
      expect.objectContaining({ provenBackup: expect.objectContaining({ id: server.backups[0]?.id }) }),
    );
  });

  test('a key that was given is the key that is set', async (context) => {
    const { expect } = context;
    const { server, folder, rotate } = await bench(context);
    await writeFile(`${folder}/key`, `${CANARIES.givenKey}\n`, { mode: 0o600 });
    const { code, stderr } = await rotate('--key-file', `${folder}/key`);
    expect(code, stderr).toBe(0);
    expect(server.keys).toEqual([CANARIES.oldKey, CANARIES.givenKey]);
  });

  test('a run can be read afterwards: list, record and report agree', async (context) => {
    const { expect } = context;
    const { rotate, here, run } = await bench(context);
    expect((await rotate()).code).toBe(0);
    const list = await here('runs', '--json');
    const runs = itemsIn<{ runId: string }>(list.stdout);
    expect(runs).toEqual([expect.objectContaining({ status: 'closed', proven: true })]);
    const [{ runId } = { runId: '' }] = runs;
    const report = await here('report', runId);
    expect(report.code, report.stderr).toBe(0);
    expect(report.stdout).toContain(runId);
    expect(report.stdout).toMatch(/readable/);
    const record = await here('audit', 'show', runId);
    expect(record.stdout).toContain('Robin');
    expect(itemsIn((await here('runs', '--open', '--json')).stdout)).toEqual([]);
    expect((await run('resume', runId)).code).toBe(2);
  });
});

/** Names inside a backup, by other people's programs; none when the key is wrong. */
async function listWithOpenssl(path: string, profile: Profile, key: string): Promise<string[]> {
  const openssl = spawn(
    'openssl',
    ['enc', '-d', '-aes-256-cbc', ...PROFILES[profile], '-in', path, '-pass', 'fd:3'],
    {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    },
  );
  (openssl.stdio[3] as NodeJS.WritableStream).end(`${key}\n`);
  const tar = spawn('tar', ['-tz'], { stdio: ['pipe', 'pipe', 'ignore'] });
  openssl.stdout?.pipe(tar.stdin).on('error', () => undefined);
  let names = '';
  tar.stdout.setEncoding('utf8').on('data', (text: string) => (names += text));
  await once(tar, 'close');
  return names
    .split('\n')
    .filter((name) => name !== '')
    .toSorted();
}
