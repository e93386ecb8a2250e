import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { type Product, type Running, runProduct } from './product.ts';

export interface Machine {
  readonly folder: string;
  /** Of what is started from now on. */
  readonly env: Record<string, string>;
  start(...args: string[]): Running;
}

/**
 * A machine on which nothing of this program has ever been; gone, with all that was started on it, when the
 * test is.
 */
export function openMachine(
  product: Product,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  const env = { HOME: folder, LIFEBOAT_HOME: join(folder, 'home') };
  const running: Running[] = [];
  onTestFinished(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const start = (...args: string[]) => {
    const started = runProduct(product, args, env);
    running.push(started);
    return started;
  };
  return { folder, env, start };
}
