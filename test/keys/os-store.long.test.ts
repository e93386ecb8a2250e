import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openOsStore } from '../../src/keys/os-store.ts';
import { describeWith } from './programs.ts';
import { type RemoteStore, startRemoteStore } from './remote-store.ts';
import { type SessionBus, sessionEnvironment, startSessionBus, withFolder } from './session-bus.ts';
import { promisesOfAStore } from './store-contract.ts';

const PROGRAMS = ['dbus-run-session', 'gnome-keyring-daemon'];
const VAULT_HINT =
  'to keep keys in a file under a passphrase instead: write `keyStore: vault` into lifeboat.yaml';

const opened: RemoteStore[] = [];

function start(home: string, env: NodeJS.ProcessEnv): RemoteStore {
  const store = startRemoteStore(['os', home], env);
  opened.push(store);
  return store;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

describeWith(PROGRAMS, 'an unlocked OS keychain', () => {
  let folder: string;
  let bus: SessionBus;
  let number = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lifeboat-keys-'));
    bus = await startSessionBus(folder, { password: 'right' });
  });
  afterAll(async () => {
    await bus.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** A separate service name makes the keychain look empty. */
  function ownEnvironment(): NodeJS.ProcessEnv {
    number += 1;
    return { ...bus.env, LIFEBOAT_KEYCHAIN_SERVICE: `lifeboat-test-${String(number)}` };
  }

  promisesOfAStore(async () => start(folder, ownEnvironment()));

  it('lets exactly one of two processes store a value when both store different values under one account', async () => {
    const env = ownEnvironment();
    const stores = [start(folder, env), start(folder, env)];
    await Promise.all(stores.map((store) => store.probe()));
    for (let round = 0; round < 5; round += 1) {
      const account = `orders/${String(round).padStart(12, '0')}`;
      const outcomes = await Promise.allSettled(
        stores.map((store, index) => store.put(account, new Secret(`value-${String(index)}`))),
      );
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      expect(outcomes[1 - winner]).toMatchObject({ status: 'rejected', reason: { code: 'keys.exists' } });
      for (const store of stores) {
        expect((await store.get(account))?.reveal()).toBe(`value-${String(winner)}`);
      }
    }
  });

  it('can be listed and probed by several processes at once, and none of them crashes', async () => {
    const env = ownEnvironment();
    const stores = [start(folder, env), start(join(folder, 'another-home'), env), start(folder, env)];
    for (let round = 0; round < 20; round += 1) {
      const [listed] = await Promise.all([
        stores[0]?.accounts(),
        ...stores.slice(1).map((store) => store.probe()),
      ]);
      expect(listed).toEqual(await stores[1]?.accounts());
    }
  });

  it('gives one installation secret and one signing key to processes that start together', async () => {
    const env = ownEnvironment();
    const stores = [start(folder, env), start(folder, env), start(folder, env)];
    const prints = await Promise.all(stores.map((store) => store.fingerprint('a key')));
    const signers = await Promise.all(stores.map((store) => store.signingKey()));
    expect(new Set(prints).size).toBe(1);
    expect(new Set(signers).size).toBe(1);
    expect(await stores[0]?.accounts()).toEqual(['lifeboat/installation-secret', 'lifeboat/signing-key']);
  });
});

describeWith(PROGRAMS, 'an OS keychain that cannot be used', () => {
  it('is reported as locked, which differs from a keychain without the key', async () => {
    await withFolder(async (folder) => {
      await inBus(folder, { password: 'right' }, async (store) => {
        await store.put('orders/0123456789ab', new Secret('kept'));
        expect(await store.get('orders/ffffffffffff')).toBeUndefined();
      });
      await inBus(folder, { password: 'wrong' }, async (store) => {
        const locked = { code: 'keys.locked', shortMessage: 'the OS keychain is locked' };
        await expect(store.get('orders/0123456789ab')).rejects.toMatchObject(locked);
        await expect(store.get('orders/ffffffffffff')).rejects.toMatchObject(locked);
        await expect(store.probe()).rejects.toMatchObject(locked);
        await expect(store.put('orders/0123456789ab', new Secret('other'))).rejects.toMatchObject(locked);
        await expect(store.remove('orders/0123456789ab')).rejects.toMatchObject(locked);
        // Listing the items of a locked keychain would end the process.
        await expect(store.accounts()).rejects.toMatchObject(locked);
      });
      await inBus(folder, { password: 'right' }, async (store) => {
        expect((await store.get('orders/0123456789ab'))?.reveal()).toBe('kept');
      });
    });
  });

  it('is reported as having no keychain yet when the service starts without one', async () => {
    await withFolder((folder) =>
      inBus(folder, {}, async (store) => {
        const expected = {
          code: 'keys.no-collection',
          shortMessage: 'the keychain service has no keychain yet',
        };
        await expect(store.get('orders/0123456789ab')).rejects.toMatchObject(expected);
        await expect(store.accounts()).rejects.toMatchObject(expected);
      }),
    );
  });

  it('is reported as having no service when nothing on the bus is a keychain', async () => {
    await withFolder((folder) =>
      inBus(folder, { activation: false }, async (store) => {
        await expect(store.get('orders/0123456789ab')).rejects.toMatchObject({
          code: 'keys.no-service',
          shortMessage: 'no keychain service answers on the session bus',
          hints: ['install and start gnome-keyring, KWallet or KeePassXC in this session', VAULT_HINT],
        });
      }),
    );
  });

  it.each([
    ['without an address', undefined],
    ['with the address of a bus that is gone', 'unix:path=/nonexistent/bus'],
  ])('is reported as having no bus %s', async (_title, address) => {
    await withFolder(async (folder) => {
      const env = await sessionEnvironment(folder);
      const store = start(
        folder,
        address === undefined ? env : { ...env, DBUS_SESSION_BUS_ADDRESS: address },
      );
      await expect(store.get('orders/0123456789ab')).rejects.toMatchObject({
        code: 'keys.no-bus',
        shortMessage: 'there is no session bus to reach a keychain on',
        hints: ['over SSH and in containers this is normal; a desktop session has one', VAULT_HINT],
      });
    });
  });

  it('is abandoned when it never answers, and does not keep the process from ending', async () => {
    await withFolder(async (folder) => {
      const socket = join(folder, 'mute');
      const mute = createServer().listen(socket);
      const env = {
        ...(await sessionEnvironment(folder)),
        DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}`,
      };
      const module = new URL('../../src/keys/os-store.ts', import.meta.url).href;
      const script = `
        const { openOsStore } = await import(${JSON.stringify(module)});
        const store = await openOsStore({ home: ${JSON.stringify(folder)}, patienceMs: 300 });
        const error = await store.get('orders/0123456789ab').catch((thrown) => thrown);
        console.log(error.code + ': ' + error.shortMessage);
        process.exit(4);`;
      const run = await runNode(script, env);
      mute.close();
      expect(run).toEqual({
        code: 4,
        stdout: 'keys.no-answer: the OS keychain has not answered for 1 s\n',
      });
    });
  });

  it('is reported as lacking its library when keytar cannot load it', async () => {
    await withFolder(async (folder) => {
      const broken = await keytarWithoutBinaries(folder);
      const store = startRemoteStore(['os', folder], process.env, broken);
      opened.push(store);
      await expect(store.probe()).rejects.toMatchObject({
        code: 'keys.no-library',
        shortMessage: 'the keychain library cannot be loaded',
        evidence: { error: expect.stringContaining('Failed to load keytar native addon') },
      });
    });
  });

  it('refuses more than the 2,560 bytes that Windows keeps, before anything is written', async () => {
    await withFolder(async (folder) => {
      const store = await openOsStore({ home: folder, platform: 'win32' });
      await expect(store.put('orders/token', new Secret('é'.repeat(1281)))).rejects.toMatchObject({
        code: 'keys.too-large',
        shortMessage: 'the secret takes 3432 bytes in the Windows keychain, which has room for 2560',
      });
    });
  });
});

async function runNode(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number; stdout: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 200_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  const [code] = await once(child, 'close');
  return { code, stdout };
}

async function inBus(
  folder: string,
  options: Parameters<typeof startSessionBus>[1],
  work: (store: RemoteStore) => Promise<void>,
): Promise<void> {
  const bus = await startSessionBus(folder, options);
  const store = startRemoteStore(['os', folder], bus.env);
  try {
    await work(store);
  } finally {
    await store.close();
    await bus.close();
  }
}

/** The real package without its binaries, and a module that makes `import 'keytar'` find it. */
async function keytarWithoutBinaries(folder: string): Promise<string> {
  const real = fileURLToPath(new URL('../../node_modules/keytar/lib/keytar.js', import.meta.url));
  const copy = join(folder, 'lib', 'keytar.js');
  await cp(real, copy);
  const hook = join(folder, 'hook.mjs');
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module';
     registerHooks({ resolve: (name, context, next) =>
       name === 'keytar' ? { url: ${JSON.stringify(pathToFileURL(copy).href)}, format: 'commonjs', shortCircuit: true } : next(name, context) });`,
  );
  return pathToFileURL(hook).href;
}
