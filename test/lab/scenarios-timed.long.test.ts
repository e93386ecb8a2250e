import { readFile } from 'node:fs/promises';
import { describe, type TestContext, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { curl, instanceOf, startTestLab, until } from './helpers.ts';

/** A lab of its own in which that scenario has just begun. */
async function begin(name: string, { onTestFinished }: TestContext): Promise<Lab> {
  const lab = await startTestLab();
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

  test('expired-token: the token in hand becomes 401, and whoever reads the file again goes on', async (context) => {
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
});
