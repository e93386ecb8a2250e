import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
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
    expect(textOf('receipt.pae')).toContain(hash('sha256', textOf('report.json')));
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
    expect(words).toContain(`receipt of run/${made.runId} in ${out}: verified, with what it is about`);
    writeFileSync(join(out, 'report.json'), ' ', { flag: 'a' });
    const changed = await run('audit', 'verify', bundle, '--receipts', out);
    expect(changed.stdout).toContain('report.json was changed: it is not what the receipt is about');
    expect(changed.code).toBe(1);
    const again = await run('receipt', 'last', '--out', out);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('already exists');
  });
});
