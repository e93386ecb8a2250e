import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtProduct, runProduct } from '../bench-kit/product.ts';
import { temporaryFolder, until } from './helpers.ts';

test('the sample application is also a command: a single executable can start only itself', async () => {
  const file = join(await temporaryFolder(), 'settings.json');
  writeFileSync(file, JSON.stringify({ name: 'orders-api', work: 'api', perSecond: 0, VCAP_SERVICES: {} }));
  const { child, ended, stdout } = runProduct(builtProduct({ cheapVault: true }), ['lab-app', file], {});
  try {
    const report = await until('the application has a state', async () =>
      stdout()
        .split('\n')
        .find((line) => line.includes('"failing"')),
    );
    expect(JSON.parse(report)).toMatchObject({
      app: 'orders-api',
      lastError: 'no service is bound',
      port: expect.any(Number),
    });
    expect(existsSync(file)).toBe(false);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
