import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { canTrace, signallingAt } from '../crash/strace.ts';

/** A rotation, its bundle, and the folder that a stranger has unpacked it into. */
async function bundled({ folder, rotate, run, entries }: TestBench) {
  const { code, stdout, stderr } = await rotate();
  if (code !== 0) throw new Error(stderr);
  const tar = join(folder, 'bundle.tar');
  const [, anchor = ''] = /anchor for the ticket: (\S+)/u.exec(stdout) ?? [];
  const runId =
    (await entries()).find(({ type }) => type === 'run.started')?.stream.replace('run/', '') ?? '';
  const key = join(folder, 'bench.pub');
  writeFileSync(key, (await run('audit', 'key')).stdout);
  const made = await run('audit', 'export', runId, '--out', tar);
  if (made.code !== 0) throw new Error(made.stderr);
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  execFileSync('tar', ['-xf', tar, '-C', elsewhere]);
  return { tar, elsewhere, anchor, runId, key };
}

describe.concurrent('an evidence bundle', () => {
  const bench = useQuickBenches();

  test('is verified on another machine with system tools alone', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, elsewhere, anchor, key } = await bundled(opened);
    expect(readdirSync(elsewhere).sort()).toEqual([
      'README.txt',
      'SHA256SUMS',
      'checkpoint.note',
      'checkpoints',
      'journal.jsonl',
      'ledger',
      'lifeboat.pub',
      'log.jsonl',
      'machine.json',
      'machine.mmd',
      'manifest.note',
      'plan.txt',
      'proof.json',
      'report.html',
      'report.json',
      'report.md',
      'tools.json',
      'transcript.jsonl',
      'verify.mjs',
    ]);
    const sums = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: elsewhere,
      encoding: 'utf8',
    });
    expect(sums.status, sums.stderr).toBe(0);

    // The commands of README.txt, as they stand there.
    const commands = readFileSync(join(elsewhere, 'README.txt'), 'utf8')
      .split('\n')
      .map((line) => line.trim());
    const byHand = commands.filter((line) => /^(?:head .* > text|tail |openssl pkeyutl)/u.test(line));
    expect(byHand).toHaveLength(3);
    const openssl = spawnSync('sh', ['-ec', byHand.join('\n')], { cwd: elsewhere, encoding: 'utf8' });
    expect(openssl.stdout + openssl.stderr).toContain('Signature Verified Successfully');
    execFileSync('rm', ['text', 'signature'], { cwd: elsewhere });

    const words = ['--public-key', key, '--anchor', anchor];
    const node = spawnSync(process.execPath, ['verify.mjs', ...words], { cwd: elsewhere, encoding: 'utf8' });
    expect([node.status, node.stderr]).toEqual([0, '']);
    expect(node.stdout).toMatch(/^journal\.jsonl: \d+ entries\n/u);
    expect(node.stdout).toMatch(/\nintact\n$/u);
    const alone = spawnSync(process.execPath, [join(elsewhere, 'verify.mjs'), elsewhere], {
      encoding: 'utf8',
    });
    expect(alone).toMatchObject({ status: 3, stdout: expect.stringContaining('limit: no key is pinned') });

    // Neither a home nor a config is needed, and none is made.
    const nothing = join(opened.folder, 'nothing');
    const bare = [
      'env',
      '-u',
      'LIFEBOAT_CONFIG',
      '-u',
      'LIFEBOAT_PASSPHRASE_FILE',
      `LIFEBOAT_HOME=${nothing}`,
    ];
    for (const place of [tar, elsewhere]) {
      const verified = await opened.startUnder(bare, 'audit', 'verify', place, ...words).ended;
      expect(verified.code, verified.stdout + verified.stderr).toBe(0);
      expect(verified.stdout).toContain(`the anchor matches: the first ${anchor.split(':')[2]} entries`);
    }
    expect(existsSync(nothing)).toBe(false);
  });

  test('holds every request of the run, and of each secret at most its fingerprint', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, elsewhere } = await bundled(opened);
    const lines = readFileSync(join(elsewhere, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
    const calls = lines.map((line) => JSON.parse(line) as Record<string, never>);
    const seen = opened.server.calls.map(({ method }) => method);
    expect(calls.map(({ method }) => method).sort()).toEqual([...seen].sort());
    const fingerprints = [...(await opened.vault()).keys()];
    const patch = calls.find(({ method }) => method === 'PATCH') as unknown as {
      readonly body: { readonly encryption_key: string };
      readonly headers: Readonly<Record<string, string>>;
      readonly status: number;
    };
    expect(fingerprints.map((print) => `fingerprint:${print}`)).toContain(patch.body.encryption_key);
    expect(patch.headers).toMatchObject({ authorization: '[secret]', 'content-type': 'application/json' });
    expect(
      statSync(join(opened.home, 'transcripts', readdirSync(join(opened.home, 'transcripts'))[0] ?? ''))
        .mode & 0o777,
    ).toBe(0o600);
    const secrets = [...Object.values(CANARIES), ...(await opened.vault()).values()];
    for (const secret of secrets) expect(readFileSync(tar).includes(secret)).toBe(false);
  });

  test('is not made with the signing key of another key store', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, runId } = await bundled(opened);
    const other = await bench(context);
    expect((await other.rotate()).code).toBe(0);
    cpSync(join(other.home, 'vault.age'), join(opened.home, 'vault.age'));
    const made = await opened.run('audit', 'export', runId, '--out', `${tar}.2`);
    expect(made.code, made.stderr).toBe(1);
    expect(made.stderr).toContain('the record is not intact, so it is not signed');
    expect(existsSync(`${tar}.2`)).toBe(false);
  });

  test('of a home whose key store is gone is signed with a new key, says so, and is verified with both keys', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, elsewhere, runId, key } = await bundled(opened);
    rmSync(join(opened.home, 'vault.age'));
    const made = await opened.run('audit', 'export', runId, '--out', `${tar}.2`);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stderr).toContain('this export is signed with another key');
    execFileSync('tar', ['-xf', `${tar}.2`, '-C', elsewhere]);
    const both = join(opened.folder, 'keys.pem');
    writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(join(elsewhere, 'lifeboat.pub'), 'utf8'));
    const verified = await opened.run('audit', 'verify', `${tar}.2`, '--public-key', both);
    expect(verified.code, verified.stdout).toBe(0);
    const without = await opened.run('audit', 'verify', `${tar}.2`, '--public-key', key);
    expect([without.code, without.stdout]).toEqual([
      1,
      expect.stringContaining('the manifest is signed by a key'),
    ]);
  });

  test('a verifier without a usable bundle, key or anchor exits with 2 and gives no verdict', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, elsewhere, key } = await bundled(opened);
    const verifier = join(elsewhere, 'verify.mjs');
    const said = (...args: string[]) => {
      const { status, stdout } = spawnSync(process.execPath, [verifier, ...args], { encoding: 'utf8' });
      return { status, stdout };
    };
    expect(said(`${elsewhere}.gone`)).toEqual({ status: 2, stdout: '' });
    expect(said(tar)).toEqual({ status: 2, stdout: '' });
    expect(said(elsewhere, 'more')).toEqual({ status: 2, stdout: '' });
    expect(said(elsewhere, '--anchor')).toEqual({ status: 2, stdout: '' });
    expect(said(elsewhere, '--public-key', `${tar}.gone`)).toEqual({ status: 2, stdout: '' });
    expect(said(elsewhere, '--public-key', join(elsewhere, 'README.txt'))).toEqual({ status: 2, stdout: '' });
    expect(said('--public-key', key, elsewhere)).toMatchObject({ status: 0 });
    execFileSync('tar', ['-cf', `${tar}.again`, '-C', elsewhere, '.']);
    const again = await opened.run('audit', 'verify', `${tar}.again`);
    expect(again.stdout).toContain('unpack it and verify the folder');
  });

  test('is not written over a file or into a terminal; the journal alone is still printed as lines', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, runId, key } = await bundled(opened);
    const again = await opened.run('audit', 'export', runId, '--out', tar);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('evidence is not overwritten')]);
    const piped = await opened.run('audit', 'export', runId, '--out', '-');
    expect(piped.code, piped.stderr).toBe(0);
    const lines = await opened.run('audit', 'export', runId, '--lines');
    writeFileSync(join(opened.folder, 'lines.jsonl'), lines.stdout);
    const verify = ['audit', 'verify', join(opened.folder, 'lines.jsonl')];
    expect((await opened.run(...verify)).code).toBe(3);
    const verified = await opened.run(...verify, '--public-key', key);
    expect(verified.code, verified.stdout).toBe(0);
  });

  test('has the name that was given; if that name does not end in .tar, a hint says that it is a tar', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { tar, runId } = await bundled(opened);
    const out = join(opened.folder, 'evidence');
    const made = await opened.run('audit', 'export', runId, '--out', out);
    expect([made.code, made.stdout]).toEqual([0, `${out}\n`]);
    expect(made.stderr).toContain('hint: it is a tar');
    expect(execFileSync('tar', ['-tf', out], { encoding: 'utf8' })).toContain('verify.mjs');
    expect((await opened.run('audit', 'verify', out)).code).toBe(3);
    const named = await opened.run('audit', 'export', runId, '--out', `${tar}.2.tar`);
    expect([named.code, named.stderr]).toEqual([0, expect.not.stringContaining('it is a tar')]);
    const folder = await opened.run('audit', 'export', runId, '--out', opened.folder);
    expect([folder.code, folder.stderr]).toEqual([2, expect.stringContaining('is a folder')]);
  });

  test('an anchor that was copied badly is refused as not copied whole', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { anchor, runId } = await bundled(opened);
    expect((await opened.run('audit', 'anchor', runId)).stdout.trim()).toBe(anchor);
    const typo = await opened.run(
      'audit',
      'verify',
      '--anchor',
      anchor.replace(/.$/u, '') + (anchor.endsWith('0') ? '1' : '0'),
    );
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('not copied whole')]);
    expect((await opened.run('audit', 'verify', '--anchor', anchor)).code).toBe(0);
    expect((await opened.run('audit', 'verify', runId, '--anchor', ` \`${anchor}\`. `)).code).toBe(0);
  });

  test.skipIf(!canTrace()).for(['write', 'link'])(
    'is never left half written: after a process is killed in its %s, the next one can write it',
    async (call, context) => {
      const { expect } = context;
      const opened = await bench(context);
      expect((await opened.rotate()).code).toBe(0);
      const [run = ''] = (await opened.entries()).flatMap(({ stream }) =>
        stream.startsWith('run/') ? [stream.slice('run/'.length)] : [],
      );
      const path = join(opened.folder, 'bundle.tar');
      const words = ['audit', 'export', run, '--out', path];
      const killed = await opened.startUnder(signallingAt(call, 1, { path }), ...words).ended;
      expect([null, 0]).toContain(killed.code);
      if (call === 'link') expect(killed.code).toBeNull();
      if (!existsSync(path)) expect(await opened.run(...words)).toMatchObject({ code: 0 });
      const verified = await opened.run('audit', 'verify', path);
      expect(verified.code, verified.stdout).toBe(3);
    },
  );

  test('can be made of a run whose transcript could not be written, which did not stop the run', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    writeFileSync(join(opened.home, 'transcripts'), 'a file where a folder should be');
    const { code, stderr } = await opened.rotate();
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('the transcript of requests cannot be written'),
    ]);
    const kept = (await opened.entries()).filter(({ type }) => type === 'transcript.kept');
    expect(kept).toMatchObject([{ body: { lines: 0, bytes: 0, problem: expect.any(String) } }]);
    expect((await opened.run('audit', 'verify')).code).toBe(0);
  });
});
