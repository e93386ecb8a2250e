import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { opensslLines } from '../../src/base/receipt-files.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('the receipt of a run', () => {
  const bench = useQuickBenches();

  test('is checked by openssl alone, is named in the journal, and is never overwritten', async (context) => {
    const { expect } = context;
    const { folder, rotate, good, run, entries } = await bench(context);
    await rotate();
    const out = join(folder, 'receipt');
    const made = JSON.parse(await good('receipt', 'last', '--out', out, '--json'));
    expect(readdirSync(out).sort()).toEqual([
      'lifeboat-receipts.pub',
      'receipt.pae',
      'receipt.sig',
      'receipt.sigstore.json',
      'report.json',
    ]);
    const verify = ['dgst', '-sha256', '-verify', 'lifeboat-receipts.pub', '-signature', 'receipt.sig'];
    const { stdout } = spawnSync('openssl', [...verify, 'receipt.pae'], { cwd: out, encoding: 'utf8' });
    expect(stdout).toBe('Verified OK\n');
    const textOf = (name: string) => readFileSync(join(out, name), 'utf8');
    const about = () => {
      const command = opensslLines('report.json')[1];
      return spawnSync('sh', ['-c', command], { cwd: out, encoding: 'utf8' });
    };
    expect(about()).toMatchObject({ status: 0, stdout: `${textOf('receipt.pae')}\n` });
    const report = textOf('report.json');
    for (const other of [`${report} `, textOf('receipt.pae'), '']) {
      writeFileSync(join(out, 'report.json'), other);
      expect(about()).toMatchObject({ status: 1, stdout: '' });
    }
    rmSync(join(out, 'report.json'));
    expect(about()).toMatchObject({ status: 1, stdout: '' });
    writeFileSync(join(out, 'report.json'), report);
    const { outcome } = JSON.parse(textOf('report.json'));
    expect(made.result === 'FAILED').toBe(outcome.proven !== true);
    expect(made.sha256).toBe(hash('sha256', textOf('receipt.sigstore.json')));
    expect(await good('audit', 'key', '--receipts')).toBe(textOf('lifeboat-receipts.pub'));
    const types = (await entries()).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['receipt.made', 'receipt-key.endorsed']));
    expect((await run('audit', 'verify')).stdout).not.toContain('not intact');
    const verified = JSON.parse((await run('audit', 'verify', '--receipts', folder, '--json')).stdout);
    expect(verified.receipts).toEqual([
      { about: `run/${made.runId}`, sha256: made.sha256, path: out, state: 'verified' },
    ]);
    const bundle = join(folder, 'bundle.tar');
    await good('audit', 'export', 'last', '--out', bundle);
    const words = (await run('audit', 'verify', bundle, '--receipts', out)).stdout;
    expect(words).toContain(
      `receipt of run/${made.runId} in ${out}: verified, with the file that it is about`,
    );
    writeFileSync(join(out, 'report.json'), ' ', { flag: 'a' });
    const changed = await run('audit', 'verify', bundle, '--receipts', out);
    expect(changed.stdout).toContain('report.json was changed: it is not what the receipt is about');
    expect(changed.code).toBe(1);
    const again = await run('receipt', 'last', '--out', out);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('already exists');
  });

  test('states what the recorded evaluations prove, of one instance or all, and is refused without an evaluation', async (context) => {
    const { expect } = context;
    const { folder, good, run } = await bench(context);
    const [{ verdict }] = JSON.parse((await run('plans', 'evaluate', '--json')).stdout).items;
    expect(await run('receipt', '--evaluation', 'order')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no evaluation of order is on record'),
    });
    expect(await run('receipt', 'last', '--evaluation')).toMatchObject({ code: 2 });
    const one = join(folder, 'one');
    const made = JSON.parse(await good('receipt', '--evaluation', 'orders', '--out', one, '--json'));
    const { evaluations } = JSON.parse(readFileSync(join(one, 'evaluation.json'), 'utf8'));
    expect(evaluations).toMatchObject([{ name: 'orders', verdict }]);
    expect(made.properties.includes('LIFEBOAT_PROVEN')).toBe(verdict === 'proven');
    const { payload } = JSON.parse(readFileSync(join(one, 'receipt.sigstore.json'), 'utf8')).dsseEnvelope;
    expect(JSON.parse(Buffer.from(payload, 'base64').toString())).toMatchObject({
      predicateType: 'https://in-toto.io/attestation/svr/v0.2',
      predicate: { verifier: { policies: [] }, timeCreated: evaluations[0].at, properties: made.properties },
    });
    const verify = ['dgst', '-sha256', '-verify', 'lifeboat-receipts.pub', '-signature', 'receipt.sig'];
    expect(spawnSync('openssl', [...verify, 'receipt.pae'], { cwd: one, encoding: 'utf8' }).stdout).toBe(
      'Verified OK\n',
    );
    const all = join(folder, 'all');
    const said = await good('receipt', '--evaluation', '--out', all);
    const isMissing = !made.properties.includes('LIFEBOAT_RECOVERABLE');
    expect(/does not hold: .*LIFEBOAT_RECOVERABLE/u.test(said)).toBe(isMissing);
    const { receipts } = JSON.parse((await run('audit', 'verify', '--receipts', folder, '--json')).stdout);
    expect(receipts).toMatchObject([
      { about: 'evaluation/*', path: all, state: 'verified' },
      { about: 'evaluation/orders', path: one, state: 'verified' },
    ]);
    expect((await run('audit', 'show')).stdout).toContain('receipt of the evaluation of orders: ');
  });
});
