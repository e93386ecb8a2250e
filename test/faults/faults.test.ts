import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { CASES } from '../e2e/flows.ts';
import { FAULTS } from './faults.ts';
import { WALKABLE } from './flows.ts';
import { KINDS } from './kinds.ts';
import { cellOf, TABLE_TEXT } from './table.ts';

test('the table has a verdict for every fault at every kind of endpoint', () => {
  for (const kind of KINDS) for (const fault of FAULTS) expect(cellOf(kind, fault).once).toBeDefined();
});

test('every flow that is walked end to end is walked into faults as well', () => {
  const walked = new Set(WALKABLE.map(({ name, revision }) => `${name} ${revision}`));
  for (const { name, revision } of CASES) expect(walked).toContain(`${name} ${revision}`);
});

test('the table is printed for whoever wants to read it', async () => {
  const { code, stdout } = await crossing('--table');
  expect({ code, stdout }).toEqual({ code: 0, stdout: TABLE_TEXT });
});

test('a sample of the crossing comes out as the table says: nothing twice, nothing lost', {
  timeout: 180_000,
}, async () => {
  const { code, stdout, stderr } = await crossing('--flow', 'back-up-and-verify 62', '--sample', '24');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/^all +24 +24( +0){5}$/mu);
});

async function crossing(...args: string[]) {
  const options = ['--import', `${import.meta.dirname}/warp.ts`, `${import.meta.dirname}/run.ts`];
  const env = { ...process.env, FAULTS_SPEED: '20' };
  const child = spawn(process.execPath, [...options, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}
