import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../src/base/errors.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import type { Plan } from './director.ts';
import type { Kind } from './kinds.ts';
import { openFaultMachine } from './machine.ts';
import { openPeers } from './peers.ts';
import { cellOf } from './table.ts';
import { exitsOf, wasInDoubt } from './verdict.ts';

/*
 * The product as it ships, in a process of its own, at some of the cells of the table; the rest is run in
 * one process.
 */

const product = builtProduct({ cheapVault: true });
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterAll(() => certificates?.remove());

type Spot = Pick<Plan, 'fault' | 'route' | 'times'> & { readonly kind: Kind };

const CASES: readonly Spot[] = [
  { fault: '401', kind: 'decision', route: 'GET orders /backups-config', times: 'once' },
  { fault: '403', kind: 'task', route: 'POST orders /backups', times: 'once' },
  { fault: '429', kind: 'decision', route: 'GET orders /', times: 'once' },
  { fault: '500', kind: 'decision', route: 'GET orders /', times: 'always' },
  { fault: '409', kind: 'poll', route: 'GET orders /backups/:id', times: 'once' },
  { fault: 'reset-after', kind: 'task', route: 'POST orders /backups', times: 'once' },
  { fault: 'two-candidates', kind: 'task', route: 'POST orders /backups', times: 'once' },
  { fault: 'html', kind: 'decision', route: 'GET orders /backups', times: 'once' },
  { fault: 'wrong-types', kind: 'task', route: 'POST orders /backups', times: 'once' },
  { fault: 'task-failed', kind: 'task', route: 'POST orders /backups', times: 'once' },
];

test.for(CASES)(
  'the process ends as the table says after $fault at $route, $times',
  async (spot, context) => {
    const verdict = cellOf(spot.kind, spot.fault)?.[spot.times] ?? 'n/a';
    const { end, sent, entries } = await runFaulty(spot, context);
    expect(exitsOf(verdict, spot.times), `${verdict}: ${end.stderr}`).toContain(end.code);
    expect(end.stderr).not.toMatch(/^\s+at .+:\d+:\d+/mu);
    expect(sent()).toBeLessThanOrEqual(1);
    expect(wasInDoubt(await entries())).toBe(verdict === 'doubt');
  },
);

test.for(['GET orders /backups-config', 'POST orders /backups', 'GET orders /backups/:id'])(
  'the process stays below 250 MiB when 100 MiB of JSON come for %s',
  async (route, context) => {
    const { end } = await runFaulty({ fault: '100-mib', route, times: 'always' }, context);
    expect([0, 3], end.stderr).toContain(end.code);
    expect(end.peak / 2 ** 20).toBeGreaterThan(40);
    expect(end.peak / 2 ** 20).toBeLessThan(250);
  },
);

test.for(['expired', 'wrongHost', 'unknownCa'] as const)(
  'the process sends nothing to a server with the certificate %s',
  async (which, { onTestFinished }) => {
    const bad = { ...certificates, good: certificates[which] };
    const plan: Plan = {
      ...{ peer: 'service', fault: 'expired-certificate', times: 'always', route: '', nth: 1 },
    };
    const peers = await openPeers({ revision: 62, platform: false, certificates: bad, plan });
    const machine = await openFaultMachine(product, peers, { revision: 62 });
    onTestFinished(async () => {
      await machine.close();
      await peers.close();
    });
    const end = await machine.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
    expect(end.code, end.stderr).toBe(EXIT.waiting);
    expect(end.stderr).toContain('no trusted TLS connection to the service');
    expect(peers.director.seen).toEqual([]);
  },
);

async function runFaulty(
  { fault, route, times }: Pick<Plan, 'fault' | 'route' | 'times'>,
  { onTestFinished }: { onTestFinished: (end: () => Promise<void>) => void },
) {
  const plan: Plan = { peer: 'service', nth: 1, fault, route, times };
  const peers = await openPeers({ revision: 62, platform: false, plan, taskMs: 600 });
  const machine = await openFaultMachine(product, peers, { revision: 62 });
  onTestFinished(async () => {
    await machine.close();
    await peers.close();
  });
  peers.director.arm();
  const words = ['run', 'back-up-and-verify', '--instance', 'orders', '--yes', '--confirm', 'orders'];
  const end = await machine.run(...words);
  expect(peers.director.hits).toBeGreaterThan(0);
  const sent = () => peers.server.calls.filter(({ method, did }) => method === 'POST' && did).length;
  return { end, sent, entries: machine.entries };
}
