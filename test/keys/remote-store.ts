import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { errorFrom } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { KeyStore } from '../../src/keys/key-store.ts';

export interface Request {
  readonly verb: keyof Omit<KeyStore, 'kind' | 'description'> | 'fingerprint' | 'signingKey';
  readonly account: string;
  readonly value: string;
}

/** A key store in a separate process, which takes one request at a time. */
export interface RemoteStore extends KeyStore {
  fingerprint(key: string): Promise<string>;
  signingKey(): Promise<string>;
  readonly child: ChildProcess;
  close(): Promise<void>;
}

const WORKER = fileURLToPath(new URL('store-worker.ts', import.meta.url));

/** `preload` is a module that runs before the worker, as with `node --import`. */
export function startRemoteStore(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  preload?: string,
): RemoteStore {
  const before = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...before, WORKER, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let queue: Promise<unknown> = Promise.resolve();

  function ask(verb: Request['verb'], account = '', value = ''): Promise<unknown> {
    const answer = queue.then(async () => {
      child.stdin.write(`${JSON.stringify({ verb, account, value })}\n`);
      const line = await lines.next();
      if (line.done) throw new Error(`the worker died: ${String((await ended)[1] ?? (await ended)[0])}`);
      const reply = JSON.parse(line.value);
      if (reply.failure !== undefined) throw errorFrom(reply.failure);
      return reply.result;
    });
    queue = answer.catch(() => {});
    return answer;
  }

  return {
    kind: args[0] === 'os' ? 'os' : 'vault',
    description: 'a store in another process',
    child,
    probe: async () => void (await ask('probe')),
    put: async (account, secret) => void (await ask('put', account, secret.reveal())),
    exchange: async (account, secret) => void (await ask('exchange', account, secret.reveal())),
    putAll: async (items) => {
      const plain = [...items].map(([account, secret]) => [account, secret.reveal()]);
      await ask('putAll', '', JSON.stringify(plain));
    },
    changePassphrase: async (next) => void (await ask('changePassphrase', '', (await next()).reveal())),
    get: async (account) => {
      const value = await ask('get', account);
      return typeof value === 'string' ? new Secret(value) : undefined;
    },
    heldInClear: async () => {
      const path = await ask('heldInClear');
      return typeof path === 'string' ? path : undefined;
    },
    accounts: async () => (await ask('accounts')) as string[],
    remove: async (account) => (await ask('remove', account)) === true,
    fingerprint: async (key) => String(await ask('fingerprint', '', key)),
    signingKey: async () => String(await ask('signingKey')),
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
