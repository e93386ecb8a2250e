import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtProduct, type Product, runProduct } from '../bench-kit/product.ts';
import { type ManyRuns, makeManyRuns } from './many-runs.ts';

const FEW = 40;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-many-runs-'));
let product: Product;

beforeAll(() => {
  product = builtProduct({ cheapVault: true });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Packs all of a home; the bytes of the pack, and where it is. */
async function packed(home: string, { env }: ManyRuns, ...flags: readonly string[]) {
  const out = join(home, 'pack');
  const words = ['evidence', '--from', '2026-01-01', '--to', '2026-12-31', '--out', out, '--json', ...flags];
  const { code, stdout, stderr } = await runProduct(product, words, env).ended;
  expect(code, stderr).toBe(0);
  const { runs, bytes } = JSON.parse(stdout) as { readonly runs: number; readonly bytes: number };
  return { out, runs, bytes };
}

test('a pack of three times as many runs of one instance has at most three times the bytes', async () => {
  const bytes: number[] = [];
  for (const runs of [FEW, 3 * FEW]) {
    const home = join(folder, `${runs}`);
    const pack = await packed(home, await makeManyRuns(home, { runs, instances: 1 }));
    expect(pack.runs).toBe(runs);
    bytes.push(pack.bytes);
    const { status, stdout } = spawnSync(process.execPath, ['verify.mjs', '--public-key', 'lifeboat.pub'], {
      ...{ cwd: pack.out, encoding: 'utf8' },
    });
    expect(status, stdout.slice(-1000)).toBe(0);
  }
  expect(bytes[1]).toBeLessThanOrEqual(3 * (bytes[0] ?? 0));
}, 240_000);

test('a receipt of each run is made and on record in the same pack', async () => {
  const home = join(folder, 'receipts');
  const { out } = await packed(home, await makeManyRuns(home, { runs: FEW, instances: 4 }), '--receipts');
  const made = readFileSync(join(out, 'log.jsonl'), 'utf8').match(/"type":"receipt\.made"/gu);
  expect(made).toHaveLength(FEW);
  const words = ['audit', 'verify', out, '--receipts', join(out, 'runs')];
  const { stdout } = await runProduct(product, [...words, '--public-key', join(out, 'lifeboat.pub')], {})
    .ended;
  expect(stdout.match(/^receipt of run\/.*: verified/gmu)).toHaveLength(FEW);
}, 240_000);
