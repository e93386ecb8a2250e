import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { Secret } from '../../src/base/secret.ts';
import { assertSupported } from '../../src/commands/run/assert-supported.ts';
import { inputFrom } from '../../src/commands/run/run-input.ts';
import type { RunInstances } from '../../src/compose/instances.ts';
import { runbookNamed } from '../../src/compose/runbook-files.ts';
import { addressFrom } from '../../src/service/address.ts';
import { openService } from '../../src/service/open.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { CASES, V0_CASES } from '../e2e/flows.ts';
import { FAULTS } from './faults.ts';
import { FLOWS, flagsIn } from './flows.ts';
import { KINDS } from './kinds.ts';
import { cellOf, TABLE_TEXT } from './table.ts';

test('the table has a verdict for every fault at every kind of endpoint', () => {
  for (const kind of KINDS) for (const fault of FAULTS) expect(() => cellOf(kind, fault)).not.toThrow();
});

test('every flow that is run end to end is also run with faults', () => {
  const tried = new Set(FLOWS.map(({ name, revision }) => `${name} ${revision}`));
  for (const { name, revision } of CASES) expect(tried).toContain(`${name} ${revision}`);
});

const ON_V0 = new Set(V0_CASES.map(({ name }) => name));
const BENCH = { server: { backups: [{ id: 1 }] } } as unknown as TestBench;
/** Every flow as it is begun, and whether V0 has its calls. */
const BEGUN = [
  ...new Map(
    FLOWS.filter(({ platform }) => !platform).map(
      ({ name, args }) => [args(BENCH).join(' '), ON_V0.has(name)] as const,
    ),
  ),
];

test('every runbook is tried on V0', () => {
  const asked = BEGUN.map(([words]) => words.split(' ')[0]);
  expect(new Set(asked)).toEqual(new Set(Object.keys(runbooks)));
});

test.for(BEGUN)('%s starts on V0 only where V0 has all its calls: %s', async ([words, isOnV0]) => {
  const address = addressFrom('https://dashboard.example.com/service-instances/4a1f', 'v0');
  const service = openService(address, { token: async () => new Secret('a token') });
  onTestFinished(() => service.close());
  const peers = { name: 'orders', service } as RunInstances['instance'];
  const { runbook: id, flags } = flagsIn(words.split(' '));
  const runbook = runbookNamed(id);
  const input = await inputFrom(runbook, flags as never, new Date(), false);
  const begin = () => assertSupported(runbook, { instance: peers, target: peers }, input);
  if (isOnV0) expect(begin).not.toThrow();
  else expect(begin).toThrow(/cannot be run on orders: interface v0 of the service cannot /u);
});

test('the table can be printed', async () => {
  const { code, stdout } = await crossing('--table');
  expect({ code, stdout }).toEqual({ code: 0, stdout: TABLE_TEXT });
});

test('a sample of flows and faults ends as the table says: nothing twice, nothing lost', {
  timeout: 180_000,
}, async () => {
  const { code, stdout, stderr } = await crossing('--flow', 'back-up-and-verify 62', '--sample', '24');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/^all +24 +24( +0){6}$/mu);
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
