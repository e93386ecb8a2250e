import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { CANARIES } from './canaries.ts';
import type { ForeignOptions } from './foreign/options.ts';
import { type ForeignServer, startForeignServer } from './foreign/server.ts';
import { keysIn, leaveOldKey } from './key-store.ts';
import { furnish, type Machine, type MachineOptions, openMachine } from './machine.ts';
import { packHere } from './pack-here.ts';
import { builtProduct, type CopyOptions, type Ended, type Product } from './product.ts';

/**
 * A person's machine: config, token, passphrase, a home with a vault; and the service that the config names.
 */
export interface TestBench extends Machine {
  readonly tokenFile: string;
  readonly server: ForeignServer;
  /** `lifeboat run rotate-key` on the instance, with everything answered by flags. */
  rotate(...args: string[]): Promise<Ended>;
  /** The keys in the vault, by fingerprint. */
  vault(instance?: string): Promise<ReadonlyMap<string, string>>;
}

export interface BenchOptions extends MachineOptions, Partial<Omit<ForeignOptions, 'folder'>> {
  readonly inFlight?: string;
  /** Leave the home empty, as on the first day. */
  readonly firstDay?: boolean;
  /** What the config says of the revision; default: the truth. */
  readonly configRevision?: string;
  /** How the config names the token's source; default: the token file. */
  readonly tokenSource?: string;
  /** A foreign service, which stays when the bench is closed. */
  readonly server?: ForeignServer;
  /** The store, for LIFEBOAT_STORE; default: that of the home. */
  readonly store?: string;
  /** The folder in which a team keeps its checkpoints; default: one of its own where there is a `store`. */
  readonly sharedPlace?: string;
  /** The operator's name; default: Robin. */
  readonly operator?: string;
}

export const ROTATE = ['run', 'rotate-key', '--instance', 'orders'] as const;
export const ANSWERED = ['--yes', '--confirm', 'orders'] as const;

/**
 * Gives the tests of a file benches with the same product, and with the same options unless a test has
 * others. A bench closes when its test has finished.
 */
export function useBenches(
  options: CopyOptions = { cheapVault: true },
  same: BenchOptions = {},
): (context: Pick<TestContext, 'onTestFinished'>, bench?: BenchOptions) => Promise<TestBench> {
  const product = builtProduct(options);
  return async (context, bench) => {
    const opened = await openBench(product, { ...same, ...bench });
    context.onTestFinished(() => opened.close());
    return opened;
  };
}

/** Benches as those of `useBenches`, whose commands need no process but where a test starts one. */
export function useQuickBenches(): ReturnType<typeof useBenches> {
  return useBenches({ cheapVault: true }, { commandsHere: true });
}

/** Sets up service and machine. The token file's content may change later, as after a new login. */
export async function openBench(product: Product, options: BenchOptions = {}): Promise<TestBench> {
  const machine = openMachine(product, undefined, options);
  const { folder, home } = machine;
  const server = options.server ?? (await startServer(join(folder, 'service'), options));
  const sharedPlace =
    options.sharedPlace ?? (options.store === undefined ? undefined : join(folder, 'shared'));
  if (sharedPlace !== undefined) mkdirSync(sharedPlace, { recursive: true });
  furnish(machine, {
    config: configFor(server, { ...options, ...(sharedPlace === undefined ? {} : { sharedPlace }) }),
    passphrase: `${CANARIES.passphrase}\n`,
    files: { token: `${CANARIES.token}\n` },
    env: options.store === undefined ? {} : { LIFEBOAT_STORE: options.store },
  });
  if (options.firstDay !== true) await leaveOldKey(home);
  return {
    ...machine,
    tokenFile: join(folder, 'token'),
    server,
    rotate: (...args) => machine.run(...ROTATE, ...ANSWERED, ...args),
    vault: (instance) => keysIn(home, instance),
    close: async () => {
      await machine.end();
      if (options.server === undefined) await server.close();
      await machine.close();
    },
  };
}

function startServer(folder: string, options: BenchOptions): Promise<ForeignServer> {
  mkdirSync(folder, { mode: 0o700 });
  const { oldKey: key, token } = CANARIES;
  // Who names a profile means the programs that have it.
  const packing = options.profile === undefined ? { packing: packHere } : {};
  return startForeignServer({ revision: 62, key, token, ...packing, ...options, folder });
}

function configFor(server: ForeignServer, options: BenchOptions): string {
  const { configRevision = server.revision, tokenSource = '{ file: ./token }', inFlight = '1s' } = options;
  const instances = server.instances.map(
    ({ name }) => `  ${name}:
    apps: []
    url: ${server.urlOf(name)}
    revision: ${configRevision}
    token: ${tokenSource}
    inFlight: ${inFlight}
`,
  );
  const operator = `operator: { name: ${options.operator ?? 'Robin'} }`;
  const places = options.sharedPlace === undefined ? '' : `checkpoints: [${options.sharedPlace}]\n`;
  return `${places}${operator}\nplatform: none\ninstances:\n${instances.join('')}`;
}

/** How often the service was asked to change something. */
export function changes({ calls }: ForeignServer) {
  const count = (method: string) => calls.filter((call) => call.method === method).length;
  const did = (method: string) => calls.filter((call) => call.method === method && call.did).length;
  return { patches: count('PATCH'), posts: count('POST'), patchesDone: did('PATCH'), postsDone: did('POST') };
}
