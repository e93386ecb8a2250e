import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Answer as ForeignAnswer, Heard } from '../../bench-kit/foreign/call.ts';
import type { InstanceSpec } from '../../bench-kit/foreign/options.ts';
import type { Packing } from '../../bench-kit/foreign/pack.ts';
import { type ForeignServer, startForeignServer } from '../../bench-kit/foreign/server.ts';
import type { Answer } from './change.ts';

export const TOKEN = 'conformance-token-of-the-operator';
export const READONLY_TOKEN = 'conformance-token-of-the-onlooker';
const KEY = 'the-first-key';

/** One request, as what makes a server wrong sees it. */
export interface Call extends Pick<Heard, 'method' | 'path' | 'query'> {
  readonly authorization: string | undefined;
  /** Without a scheme word. */
  readonly token: string | undefined;
  readonly cookie: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What makes a right server wrong. */
export interface Mutation {
  /** What is wrong with it. */
  readonly what: string;
  /** Both when left out. */
  readonly revision?: 61 | 62;
  /** The instance without continuous archiving is the one that is tested. */
  readonly standard?: true;
  /** Changes what the server understands. */
  readonly before?: (call: Call, service: ForeignServer) => Call;
  /** Changes what the server says. */
  readonly after?: (answer: Answer, call: Call, service: ForeignServer) => Answer;
  /** Ids of the checks that are meant for it, or beginnings of ids with a star; each of them must fail. */
  readonly caughtBy: readonly string[];
}

export interface WrongServer {
  /** Dashboard addresses. */
  readonly url: string;
  readonly target: string;
  readonly service: ForeignServer;
  close(): Promise<void>;
}

/**
 * The foreign service as the document has it to the letter, but for what is wrong with it. `orders` has
 * `backups` backups, and one restore when it has any.
 */
export async function openWrongServer(
  revision: 61 | 62,
  { before = (call) => call, after = (answer) => answer }: Partial<Mutation> = {},
  backups = 1,
): Promise<WrongServer> {
  const folder = await mkdtemp(join(tmpdir(), 'wrong-server-'));
  const orders: InstanceSpec = { name: 'orders', archiving: true, key: KEY, backups };
  const service: ForeignServer = await startForeignServer({
    folder,
    revision,
    taste: 'plain',
    key: KEY,
    token: TOKEN,
    readOnlyToken: READONLY_TOKEN,
    instances: [orders, { name: 'orders-dr' }],
    taskMs: 4,
    packing: sealing(),
    mishear: (heard) => misheard(heard, before(callOf(heard), service)),
    twist: (_, said, heard) => inBytes(after(plain(said), callOf(heard), service)),
  });
  const [newest] = service.backups;
  if (newest !== undefined) {
    const restore = service.instance('orders').restore(newest, KEY, { ms: 0 });
    while (!restore.isOver) await setImmediate();
  }
  return {
    url: service.url,
    target: service.urlOf('orders-dr'),
    service,
    close: async () => {
      await service.close();
      await rm(folder, { recursive: true, maxRetries: 5 });
    },
  };
}

/** Backups that only look like some, because no test opens them. Another key still does not fit. */
function sealing(): Packing {
  const keys = new Map<string, string>();
  return {
    pack: async (_, { path, key }) => {
      keys.set(path, key);
      await writeFile(path, Buffer.concat([Buffer.from('Salted__'), randomBytes(200)]));
    },
    unpack: async ({ path, key }, folder) => {
      if (keys.get(path) !== key) throw new Error('another key');
      await mkdir(join(folder, 'base'), { recursive: true });
      await writeFile(join(folder, 'base/1259'), 'restored');
    },
  };
}

function callOf({ method, path, query, headers, body }: Heard): Call {
  const { authorization, cookie } = headers;
  const token = authorization?.replace(/^bearer /i, '');
  return { method, path, query, authorization, token, cookie, body: body === 'broken' ? {} : body };
}

function misheard(heard: Heard, { method, path, query, token, cookie, body }: Call): Heard {
  const isSameToken = token === callOf(heard).token;
  const authorization = isSameToken ? heard.headers.authorization : token;
  const headers = { ...heard.headers, authorization, cookie };
  return { method, path, query, headers, body: heard.body === 'broken' ? 'broken' : body };
}

function plain(said: ForeignAnswer): Answer {
  const { status } = said;
  if (!('bytes' in said)) return { status, body: said.body };
  return { status, body: said.bytes, headers: said.headers as Record<string, string> };
}

function inBytes({ status, body, headers }: Answer): ForeignAnswer {
  const isBackup = Buffer.isBuffer(body);
  const bytes = isBackup ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    status,
    bytes,
    headers: isBackup ? { ...headers } : { 'content-type': 'application/json', ...headers },
  };
}
