import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Secret } from '../../src/base/secret.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openVault } from '../../src/keys/vault.ts';
import type { Entry } from '../../src/store/journal.ts';
import { type Ended, type Product, runProduct } from '../bench-kit/product.ts';
import { CANARIES } from '../bench-kit/test-bench.ts';
import type { Flow } from './flows.ts';
import type { Peers } from './peers.ts';

/** How a process of the product ended, and the most memory that it held. */
export interface Measured extends Ended {
  /** Bytes; 0 where nobody tells. */
  readonly peak: number;
}

/** A home whose config leads to the proxies, for the product as it ships. */
export interface Machine {
  run(...args: string[]): Promise<Measured>;
  /** Everything in the journal. */
  entries(): Promise<readonly Entry[]>;
  close(): void;
}

/** Sets it up with a key of an earlier day. The clock of the product runs as fast as the one here. */
export async function openMachine(
  product: Product,
  peers: Peers,
  { revision }: Pick<Flow, 'revision'>,
): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-machine-'));
  const at = (name: string) => join(folder, name);
  mkdirSync(at('home'), { mode: 0o700 });
  writeFileSync(at('token'), CANARIES.token, { mode: 0o600 });
  writeFileSync(at('platform-token'), `bearer ${CANARIES.otherToken}`, { mode: 0o600 });
  writeFileSync(at('passphrase'), CANARIES.passphrase, { mode: 0o600 });
  writeFileSync(at('lifeboat.yaml'), configOf(peers, revision));
  const passphrase = async () => new Secret(CANARIES.passphrase);
  const vault = await openVault({ path: at('home/vault.age'), passphrase, workFactor: 1 });
  const keyring = openKeyring(vault);
  await keyring.signingKey();
  await keyring.add('orders', new Secret(CANARIES.oldKey));
  const fast = process.env['FAULTS_SPEED'];
  const clock: Record<string, string> =
    fast === undefined
      ? {}
      : {
          NODE_OPTIONS: `--import=${new URL('./warp.ts', import.meta.url).href}`,
          FAULTS_SPEED: fast,
          FAULTS_EPOCH: process.env['FAULTS_EPOCH'] ?? '',
        };
  const env = {
    HOME: folder,
    TMPDIR: tmpdir(),
    LIFEBOAT_HOME: at('home'),
    LIFEBOAT_CONFIG: at('lifeboat.yaml'),
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: at('passphrase'),
    ...clock,
  };
  return {
    run: async (...args) => {
      const { child, ended } = runProduct(product, args, env);
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, peakOf(child.pid));
      }, 20);
      const end = await ended.finally(() => clearInterval(watch));
      return { ...end, peak };
    },
    entries: async () => {
      const journal = await openReaderOf({ env });
      try {
        const streams = await journal.streams('run/');
        return (await Promise.all(streams.map(({ stream }) => journal.read(stream)))).flat();
      } finally {
        await journal.close();
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
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
