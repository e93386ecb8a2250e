import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../src/base/secret.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openVault } from '../../src/keys/vault.ts';
import type { Entry } from '../../src/store/journal.ts';
import { createSigner, type Signer } from '../../src/store/log/signer.ts';
import type { ForeignOptions } from './foreign/options.ts';
import { type ForeignServer, startForeignServer } from './foreign/server.ts';
import { type Ended, type Product, type Running, runProduct } from './product.ts';

/** Words that occur nowhere else, so that finding one of them anywhere is a leak. */
export const CANARIES = {
  token: 'tok-Zq7mK2vX9pLw4RtB8nHc',
  otherToken: 'tok-Jd3sF6gY1uQe5WkN7xVa',
  oldKey: 'old+key/Mb8cTz4hRj6yPn2w',
  givenKey: 'new+key/Xs5dVf9kLq3gHt7e',
  passphrase: 'four words-Gw2bNr8mDc6v-of nonsense',
} as const;

/**
 * Somebody's machine: config, token, passphrase, a home with a vault; and the service that the config names.
 */
export interface TestBench {
  /** What the commands run. */
  readonly product: Product;
  readonly folder: string;
  readonly home: string;
  readonly tokenFile: string;
  readonly env: Readonly<Record<string, string>>;
  readonly server: ForeignServer;
  /** Starts a command. */
  start(...args: string[]): Running;
  /** Starts a command below another program, such as a tracer. */
  startUnder(under: readonly string[], ...args: string[]): Running;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ended>;
  /** `lifeboat run rotate-key` on the instance, with everything answered by flags. */
  rotate(...args: string[]): Promise<Ended>;
  /** Everything in the store, stream by stream. */
  entries(): Promise<readonly Entry[]>;
  /** The keys in the vault, by fingerprint. */
  vault(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

export interface BenchOptions extends Partial<Omit<ForeignOptions, 'folder'>> {
  readonly inFlight?: string;
  /** Leave the home empty, as on the first day. */
  readonly firstDay?: boolean;
  /** What the config says of the revision; default: the truth. */
  readonly configRevision?: string;
  /** How the config names the token's source; default: the token file. */
  readonly tokenSource?: string;
  /** Somebody else's service, which stays when the bench is closed. */
  readonly server?: ForeignServer;
  /** The store, for LIFEBOAT_STORE; default: that of the home. */
  readonly store?: string;
  /** The operator's name; default: Robin. */
  readonly operator?: string;
}

export const ROTATE = ['run', 'rotate-key', '--instance', 'orders'] as const;
export const ANSWERED = ['--yes', '--confirm', 'orders'] as const;

/** Sets up service and machine. The token file's content may change later, as after a new login. */
export async function openBench(product: Product, options: BenchOptions = {}): Promise<TestBench> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  const [home, yard] = [join(folder, 'home'), join(folder, 'service')];
  for (const path of [home, yard]) mkdirSync(path, { mode: 0o700 });
  const tokenFile = join(folder, 'token');
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(tokenFile, `${CANARIES.token}\n`, { mode: 0o600 });
  writeFileSync(passphraseFile, `${CANARIES.passphrase}\n`, { mode: 0o600 });
  const server =
    options.server ??
    (await startForeignServer({
      revision: 62,
      key: CANARIES.oldKey,
      token: CANARIES.token,
      ...options,
      folder: yard,
    }));
  const config = join(folder, 'lifeboat.yaml');
  const source = options.tokenSource ?? '{ file: ./token }';
  const instances = server.instances.map(
    ({ name }) => `  ${name}:
    url: ${server.urlOf(name)}
    revision: ${options.configRevision ?? server.revision}
    token: ${source}
    inFlight: ${options.inFlight ?? '1s'}
`,
  );
  writeFileSync(
    config,
    `operator: { name: ${options.operator ?? 'Robin'} }\nplatform: none\ninstances:\n${instances.join('')}`,
  );
  const env = {
    HOME: folder,
    TMPDIR: tmpdir(),
    LIFEBOAT_HOME: home,
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: passphraseFile,
    ...(options.store === undefined ? {} : { LIFEBOAT_STORE: options.store }),
  };
  if (options.firstDay !== true) await furnish(home);
  const running: Running[] = [];
  const startUnder = (under: readonly string[], ...args: string[]) => {
    const started = runProduct(product, args, env, under);
    running.push(started);
    return started;
  };
  const start = (...args: string[]) => startUnder([], ...args);
  return {
    product,
    folder,
    home,
    tokenFile,
    env,
    server,
    start,
    startUnder,
    run: (...args) => start(...args).ended,
    rotate: (...args) => start(...ROTATE, ...ANSWERED, ...args).ended,
    entries: () => readAll(env),
    vault: () => readVault(home),
    close: async () => {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.map(({ ended }) => ended));
      if (options.server === undefined) await server.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A vault with the old key, as an earlier day left it. */
async function furnish(home: string): Promise<void> {
  const keyring = openKeyring(await openTestVault(home));
  await keyring.signingKey();
  await keyring.add('orders', new Secret(CANARIES.oldKey));
}

function openTestVault(home: string) {
  const passphrase = async () => new Secret(CANARIES.passphrase);
  return openVault({ path: join(home, 'vault.age'), passphrase, workFactor: 1 });
}

/** A signer with the key of a home, for what somebody could write who has both. */
export async function signerOf(home: string): Promise<Signer> {
  return createSigner(await openKeyring(await openTestVault(home)).signingKey());
}

async function readVault(home: string): Promise<ReadonlyMap<string, string>> {
  const keyring = openKeyring(await openTestVault(home));
  const keys = new Map<string, string>();
  for (const fingerprint of await keyring.list('orders')) {
    const key = await keyring.load('orders', fingerprint);
    if (key !== undefined) keys.set(fingerprint, key.reveal());
  }
  return keys;
}

async function readAll(env: NodeJS.ProcessEnv): Promise<readonly Entry[]> {
  const journal = await openReaderOf({ env });
  try {
    const streams = await journal.streams();
    return (await Promise.all(streams.map(({ stream }) => journal.read(stream)))).flat();
  } finally {
    await journal.close();
  }
}
