import { readFile } from 'node:fs/promises';
import { describe, type TestContext, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { curl, instanceOf, listBackups, run, until } from './helpers.ts';

/**
 * A lab of its own in which that scenario has just begun. Each test waits for seconds to pass; together they
 * wait once.
 */
async function begin(name: string, { onTestFinished }: TestContext): Promise<Lab> {
  const instances = [{ name: 'orders', key: true }, { name: 'orders-dr' }];
  const lab = await startTestLab({ instances, sso: false });
  onTestFinished(() => lab.close());
  await curl(lab, 'POST', '/lab/scenario', { body: { name } });
  return lab;
}

const statusOf = async (lab: Lab, name: 'orders' | 'orders-dr', options = {}) =>
  (await curl(lab, 'GET', instanceOf(lab, name).v1, options)).status;

describe.concurrent('as time passes', () => {
  test('region-loss: after the loss the source answers 502, the target still 200', async (context) => {
    const { expect } = context;
    const lab = await begin('region-loss', context);
    expect(await statusOf(lab, 'orders')).toBe(200);
    await until('the source is gone', async () =>
      (await statusOf(lab, 'orders')) === 502 ? true : undefined,
    );
    expect(await statusOf(lab, 'orders-dr')).toBe(200);
    await curl(lab, 'POST', '/lab/scenario', { body: { name: 'calm' } });
    expect(await statusOf(lab, 'orders')).toBe(502);
  });

  test('expired-token: the old token is refused, and the one now in the file works', async (context) => {
    const { expect } = context;
    const lab = await begin('expired-token', context);
    const authorization = `Bearer ${await readFile(lab.tokenFile, 'utf8')}`;
    expect(await statusOf(lab, 'orders', { authorization })).toBe(200);
    await until('the token is refused', async () =>
      (await statusOf(lab, 'orders', { authorization })) === 401 ? true : undefined,
    );
    await until('the file holds a good one', async () =>
      (await statusOf(lab, 'orders')) === 200 ? true : undefined,
    );
    expect(await statusOf(lab, 'orders', { authorization })).toBe(401);
  });

  test('cut-download: the first two downloads end early, the third is complete', async (context) => {
    const { expect } = context;
    const lab = await begin('cut-download', context);
    const size = (await listBackups(lab)).at(-1)?.size ?? 0;
    const token = await readFile(lab.tokenFile, 'utf8');
    const url = `${lab.url}${instanceOf(lab, 'orders').v0}/backups/1/download`;
    const download = async () => {
      const args = ['-sS', '-o', '/dev/null', '-w', '%{size_download}', '-H', `Authorization: ${token}`, url];
      return await run('curl', args).then(
        ({ stdout }) => [0, Number(stdout)],
        (error: { code: number; stdout: string }) => [error.code, Number(error.stdout)],
      );
    };
    for (let cut = 0; cut < 2; cut += 1) {
      const [exit, bytes = 0] = await download();
      expect(exit).toBe(18);
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(size);
    }
    expect(await download()).toEqual([0, size]);
  });

  test('disk-pressure: only orders shows a disk one percent below the threshold', async (context) => {
    const { expect } = context;
    const lab = await begin('disk-pressure', context);
    const used = async (name: 'orders' | 'orders-dr') => {
      const { json } = await curl(lab, 'GET', `${instanceOf(lab, name).v1}/metrics`);
      const figure = (of: string) =>
        (json as string[])
          .findLast((line) => line.includes(`parachute.disk.persistent.${of} `))
          ?.split(' ')[1];
      return Object.fromEntries(
        ['used_percent', 'used_threshold', 'activated'].map((of) => [of, Math.round(Number(figure(of)))]),
      );
    };
    const pressed = { used_percent: 79, used_threshold: 80, activated: 0 };
    const shown = async (wanted: boolean) =>
      await until(`a sample shows it: ${wanted}`, async () =>
        ((await used('orders'))['used_percent'] === 79) === wanted ? true : undefined,
      );
    await shown(true);
    expect(await used('orders')).toEqual(pressed);
    expect(await used('orders-dr')).not.toEqual(pressed);
    await curl(lab, 'POST', '/lab/scenario', { body: { name: 'calm' } });
    await shown(false);
  });
});
