import { readFileSync } from 'node:fs';
import process from 'node:process';
import { CANARIES } from '../bench-kit/canaries.ts';
import { leaveOldKey } from '../bench-kit/key-store.ts';
import { furnish, type Machine, openMachine } from '../bench-kit/machine.ts';
import type { Ended, Product } from '../bench-kit/product.ts';
import type { Flow } from './flows.ts';
import type { Peers } from './peers.ts';

/** How a process of the product ended, and the most memory that it held. */
export interface Measured extends Ended {
  /** Bytes; 0 if unknown. */
  readonly peak: number;
}

/** A home whose config leads to the proxies, for the product as it ships. */
export interface FaultMachine extends Pick<Machine, 'entries' | 'close'> {
  run(...args: string[]): Promise<Measured>;
}

/** Sets it up with a key of an earlier day. The clock of the product runs as fast as the one here. */
export async function openFaultMachine(
  product: Product,
  peers: Peers,
  { revision }: Pick<Flow, 'revision'>,
): Promise<FaultMachine> {
  const machine = openMachine(product);
  const fast = process.env['FAULTS_SPEED'];
  const clock: Record<string, string> =
    fast === undefined
      ? {}
      : {
          NODE_OPTIONS: `--import=${new URL('./warp.ts', import.meta.url).href}`,
          FAULTS_SPEED: fast,
          FAULTS_EPOCH: process.env['FAULTS_EPOCH'] ?? '',
        };
  const { token, otherToken, passphrase } = CANARIES;
  const files = { token, 'platform-token': `bearer ${otherToken}` };
  furnish(machine, { config: configOf(peers, revision), passphrase, files, env: clock });
  await leaveOldKey(machine.home);
  return {
    run: async (...args) => {
      const { child, ended } = machine.start(...args);
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, peakOf(child.pid));
      }, 20);
      const end = await ended.finally(() => clearInterval(watch));
      return { ...end, peak };
    },
    entries: () => machine.entries('run/'),
    close: () => machine.close(),
  };
}

function configOf(peers: Peers, revision: number): string {
  const ca = peers.caFile === undefined ? '' : `, ca: ${peers.caFile}`;
  const instances = ['orders', 'orders-dr'].map(
    (name) =>
      `  ${name}: { url: "${peers.urlOf(name)}", revision: ${revision}, ` +
      `token: { file: ./token }, inFlight: 20s${ca} }\n`,
  );
  const platform =
    peers.platformUrl === undefined
      ? 'none'
      : `{ api: "${peers.platformUrl}", token: { file: ./platform-token }${ca} }`;
  return `operator: { name: Robin }\nplatform: ${platform}\ninstances:\n${instances.join('')}`;
}

/** What the kernel says of the most that a process has held at once. */
function peakOf(pid: number | undefined): number {
  try {
    const [, kib = '0'] = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  } catch {
    return 0;
  }
}
