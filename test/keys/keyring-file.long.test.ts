import { execFileSync, spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { keyringFiles } from '../../src/keys/keyring-files.ts';
import { inOneLine } from '../../src/keys/os-store.ts';
import { describeWith } from './programs.ts';
import { type RemoteStore, startRemoteStore } from './remote-store.ts';
import { makePlainKeyring, startSessionBus, withFolder } from './session-bus.ts';

const PROGRAMS = ['dbus-run-session', 'gnome-keyring-daemon'];
const PEM = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAAA\n-----END PRIVATE KEY-----\n';

const AWKWARD = [
  PEM,
  '\n',
  ' space at both ends ',
  'back\\slash \\n \\',
  '\tkéy 🔑 \u001b[31m\r\n',
  '#;=[x]"\'',
  inOneLine('twice\n'),
];

/** A daemon, in its own session, on the files that the previous one left. */
async function inSession<T>(
  folder: string,
  password: string | undefined,
  work: (store: RemoteStore, env: NodeJS.ProcessEnv) => Promise<T>,
  named: NodeJS.ProcessEnv = {},
): Promise<T> {
  const bus = await startSessionBus(folder, password === undefined ? {} : { password });
  const env = { ...bus.env, ...named };
  const store = startRemoteStore(['os', folder], env);
  try {
    return await work(store, env);
  } finally {
    await store.close();
    await bus.close();
  }
}

/** Acts as another program, or as Lifeboat before it stored everything in one line. */
function keytar(env: NodeJS.ProcessEnv, call: string): string {
  const script = `const keytar = require(process.argv[1]); keytar.${call}.then((out) => console.log(out));`;
  const module = createRequire(import.meta.url).resolve('keytar');
  return execFileSync(process.execPath, ['-e', script, module], { env, encoding: 'utf8' }).trimEnd();
}

const setAsIs = (env: NodeJS.ProcessEnv, service: string, account: string, value: string) =>
  keytar(env, `setPassword(${[service, account, value].map((one) => JSON.stringify(one)).join()})`);

/** A process is started for each item that is written. */
const PATIENCE_MS = 300_000;

describeWith(PROGRAMS, 'a keyring whose daemon is restarted', () => {
  it.each([
    ['without a password', undefined],
    ['with a password', 'right'],
  ])('returns every value unchanged, its own and those of other programs, %s', async (_title, password) => {
    await withFolder(async (folder) => {
      const file = password === undefined ? await makePlainKeyring(folder) : undefined;
      // The names of the service and of an account are in the file, too.
      const named = { LIFEBOAT_KEYCHAIN_SERVICE: ' lífe\\boat\n[2]' };
      const key = await inSession(
        folder,
        password,
        async (store, env) => {
          setAsIs(env, 'browser', 'cookies', 'of another program');
          for (const [at, value] of AWKWARD.entries())
            await store.put(`orders/${String(at)}`, new Secret(value));
          await store.exchange('lifeboat/token-orders', new Secret('one\n'));
          await store.exchange('lifeboat/token-orders', new Secret('Bearer two\n'));
          await store.put('örders\\x/ a', new Secret('of an odd account'));
          return store.signingKey();
        },
        named,
      );
      expect(keyringFiles(join(folder, 'data', 'keyrings')).map(({ brokenAt }) => brokenAt)).toEqual([
        undefined,
      ]);
      if (file !== undefined) {
        const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('secret='));
        expect(lines).toHaveLength(AWKWARD.length + 4);
        for (const line of lines) expect(line).toMatch(/^secret=[!-[\]-~]([ -[\]-~]*[!-[\]-~])?$/u);
      }
      await inSession(
        folder,
        password,
        async (store, env) => {
          expect(keytar(env, 'getPassword("browser", "cookies")')).toBe('of another program');
          for (const [at, value] of AWKWARD.entries())
            expect((await store.get(`orders/${String(at)}`))?.reveal()).toBe(value);
          expect((await store.get('lifeboat/token-orders'))?.reveal()).toBe('Bearer two\n');
          expect((await store.get('örders\\x/ a'))?.reveal()).toBe('of an odd account');
          expect(await store.signingKey()).toBe(key);
        },
        named,
      );
    });
  });

  it(
    'is repaired when it is next opened if a value still contains line ends',
    async () => {
      await withFolder(async (folder) => {
        const file = await makePlainKeyring(folder);
        await inSession(folder, undefined, async (store, env) => {
          setAsIs(env, 'browser', 'cookies', 'of another program');
          setAsIs(env, 'lifeboat', 'lifeboat/signing-key', PEM);
          setAsIs(env, 'lifeboat', 'orders/0123456789ab', ' of a person\\');
          expect(keyringFiles(dirname(file))).toMatchObject([{ brokenAt: expect.any(Number) }]);
          await store.probe();
          expect(keyringFiles(dirname(file))).toMatchObject([{ brokenAt: undefined }]);
        });
        await inSession(folder, undefined, async (store, env) => {
          expect(await store.signingKey()).toBe(PEM);
          expect((await store.get('orders/0123456789ab'))?.reveal()).toBe(' of a person\\');
          expect(keytar(env, 'getPassword("browser", "cookies")')).toBe('of another program');
        });
      });
    },
    PATIENCE_MS,
  );

  it(
    'is reported as existing and unreadable if it was destroyed, and can be recovered as the page says',
    async () => {
      await withFolder(async (folder) => {
        const file = await makePlainKeyring(folder);
        await inSession(folder, undefined, async (_store, env) => {
          setAsIs(env, 'browser', 'cookies', 'of another program');
          setAsIs(env, 'lifeboat', 'lifeboat/signing-key', PEM);
        });
        await inSession(folder, undefined, async (store) => {
          const failure: unknown = await store.probe().catch((thrown: unknown) => thrown);
          expect(failure).toMatchObject({
            code: 'keys.no-collection',
            shortMessage: `the keychain service shows no keychain, though there is ${file}`,
            hints: [
              expect.stringMatching(/^it cannot be read from line \d+ on: a secret in it has a line end$/u),
              `it may hold keys: copy it before anything else: cp -p ${file} ${file}.copy`,
              'make no new keychain in its place; docs/troubleshooting.md says how to get its items back',
              expect.stringContaining('`keyStore: vault`'),
            ],
          });
          expect(JSON.stringify(failure)).not.toMatch(/unlock|log in/u);
        });
        await cp(file, `${file}.copy`);
        const text = await readFile(file, 'utf8');
        expect(text).toContain(`secret=${PEM}`);
        const page = await readFile('docs/troubleshooting.md', 'utf8');
        const [command = ''] = page.match(/(?<=^ {8})sed -n .*base64.*$/mu) ?? [];
        const env = { ...process.env, FILE: file };
        const line = execFileSync('sh', ['-c', command.replace(' FILE ', ' "$FILE" ')], {
          env,
          encoding: 'utf8',
        });
        // As a person does in an editor, with the command's output.
        await writeFile(file, text.replace(PEM, `lifeboat-base64:${line}`));
        await inSession(folder, undefined, async (store, env) => {
          expect(keytar(env, 'getPassword("browser", "cookies")')).toBe('of another program');
          expect(await store.signingKey()).toBe(PEM);
        });
      });
    },
    PATIENCE_MS,
  );

  it('is reported as unencrypted while it contains an item, and one with a password is not', async () => {
    await withFolder(async (folder) => {
      const file = await makePlainKeyring(folder);
      expect(await inSession(folder, undefined, async (store) => store.heldInClear?.())).toBe(file);
    });
    await withFolder(async (folder) => {
      const held = inSession(folder, 'right', async (store) => store.heldInClear?.());
      expect(await held).toBeUndefined();
    });
  });

  it(
    'keeps the key that a person adds, which a process of the program reads back',
    async () => {
      await withFolder(async (folder) => {
        await makePlainKeyring(folder);
        const config = join(folder, 'lifeboat.yaml');
        await writeFile(
          config,
          'instances: {orders: {url: "https://backup.example.com/service-instances/0b5e5b4c-1111-4222-8333-444455556666", token: {env: T}}}\n',
        );
        const named = { LIFEBOAT_HOME: join(folder, 'home'), LIFEBOAT_CONFIG: config };
        const tryIt = (env: NodeJS.ProcessEnv, ...more: string[]) => {
          const args = ['keys', 'add', 'orders', '--file', '-', ...more];
          return lifeboat({ ...env, ...named }, args, 'with-an-é-in-it-and-long-enough\n');
        };
        await inSession(folder, undefined, async (_store, env) => {
          const warned =
            'warning: the key: it has non-ASCII characters, which other tools may encode differently\n';
          expect(tryIt(env)).toMatchObject({ status: 0, stderr: warned });
        });
        await inSession(folder, undefined, async (_store, env) => {
          expect(tryIt(env, '--check')).toMatchObject({ status: 0, stderr: '' });
        });
      });
    },
    PATIENCE_MS,
  );

  it('does not count a value as stored if only the process that wrote it finds it', async () => {
    await withFolder(async (folder) => {
      await makePlainKeyring(folder);
      const bus = await startSessionBus(folder);
      const store = startRemoteStore(['os', folder], bus.env, await rememberingKeytar(folder));
      try {
        await store.probe();
        const put = store.put('orders/0123456789ab', new Secret('one'));
        await expect(put).rejects.toMatchObject({ code: 'keys.not-kept' });
      } finally {
        await store.close();
        await bus.close();
      }
    });
  });

  it(
    'is named by doctor where it is plain text, and where it is broken',
    async () => {
      await withFolder(async (folder) => {
        const file = await makePlainKeyring(folder);
        const broken = join(dirname(file), 'login.keyring');
        await writeFile(broken, `[keyring]\ndisplay-name=Login\n\n[1]\nsecret=${PEM}`);
        await inSession(folder, undefined, async (_store, env) => {
          const checks = doctorChecks({ ...env, LIFEBOAT_HOME: join(folder, 'home') });
          expect(checks).toContainEqual({
            what: 'key store: plain text',
            state: 'warn',
            found: `${file} keeps keys in plain text: this keyring has no password`,
            hints: [expect.stringContaining('Change Password'), expect.stringContaining('vault')],
          });
          expect(checks).toContainEqual({
            what: 'key store: keyring',
            state: 'bad',
            found: `${broken}: the keychain service cannot read this keyring`,
            hints: expect.arrayContaining([expect.stringContaining(`cp -p ${broken} ${broken}.copy`)]),
          });
        });
      });
    },
    PATIENCE_MS,
  );
});

const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

function lifeboat(env: NodeJS.ProcessEnv, args: readonly string[], input = '') {
  return spawnSync(process.execPath, [PROGRAM, ...args], { env, input, encoding: 'utf8' });
}

function doctorChecks(env: NodeJS.ProcessEnv): unknown {
  const { stdout } = lifeboat(env, ['doctor', '-o', 'json']);
  return (JSON.parse(stdout) as { readonly items: unknown }).items;
}

/** A module that gives its process a library which only remembers what it is told to store. */
async function rememberingKeytar(folder: string): Promise<string> {
  const fake = join(folder, 'keytar.mjs');
  await writeFile(
    fake,
    `const kept = new Map();
     export default {
       setPassword: async (_service, account, value) => void kept.set(account, value),
       getPassword: async (_service, account) => kept.get(account) ?? null,
       deletePassword: async (_service, account) => kept.delete(account),
       findCredentials: async () => [...kept].map(([account, password]) => ({ account, password })),
     };`,
  );
  const hook = join(folder, 'hook.mjs');
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module';
     registerHooks({ resolve: (name, context, next) =>
       name === 'keytar' ? { url: ${JSON.stringify(pathToFileURL(fake).href)}, shortCircuit: true } : next(name, context) });`,
  );
  return pathToFileURL(hook).href;
}
