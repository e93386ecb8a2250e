import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestContext } from 'vitest';
import type { ForeignOptions } from './options.ts';
import { type ForeignServer, startForeignServer } from './server.ts';

export const TOKENS = { all: 'tok-all', read: 'tok-read' } as const;
export const KEY = 'a key of some length';

export interface Reply {
  /** Of the last answer; 0 when there was none. */
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bytes: Buffer;
  /** The body as JSON; throws when it is none. */
  json<T = unknown>(): T;
  /** curl's: 0, 18 when a body broke off, 52 when there was no answer. */
  readonly exitCode: number;
}

export interface Ask {
  /** Default: all rights. `undefined` sends no `Authorization`. */
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** More arguments, such as `--location`. */
  readonly args?: readonly string[];
}

/** One request by a foreign client. */
export async function curl(method: string, url: string, ask: Ask = {}): Promise<Reply> {
  const { token = 'token' in ask ? undefined : `bearer ${TOKENS.all}`, json, args = [] } = ask;
  const body = json === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(json)];
  const authorization = token === undefined ? [] : ['-H', `authorization: ${token}`];
  const wanted = '%{stderr}{"code":"%{response_code}","headers":%{header_json}}';
  const all = ['-s', '-X', method, '-w', wanted, ...authorization, ...body, ...args, url];
  const child = spawn('curl', all, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [bytes, written, [exitCode]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  const { code, headers } = JSON.parse(written) as Pick<Reply, 'headers'> & { readonly code: string };
  return { status: Number(code), headers, bytes, exitCode, json: <T>() => JSON.parse(bytes.toString()) as T };
}

export interface Scene {
  readonly server: ForeignServer;
  /** The V1 address of an instance, by default of the first one. */
  v1(name?: string): string;
  /** A path for whatever a test needs to write. */
  scratch(name: string): string;
  /** Asks for one restore or backup until its status is one of the ends, and gives the last answer. */
  ended(url: string): Promise<Record<string, unknown>>;
}

/** A foreign service with both kinds of tokens, gone when the test has finished. */
export async function openScene(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  options: Partial<ForeignOptions> = {},
): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  const server = await startForeignServer({
    revision: 62,
    taskMs: 40,
    key: KEY,
    token: TOKENS.all,
    readOnlyToken: TOKENS.read,
    ...options,
    folder,
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    server,
    v1: (name = 'orders') => server.urlOf(name).replace('/service-instances/', '/v1/instances/'),
    scratch: (name) => join(folder, name),
    ended: async (url) => {
      for (;;) {
        // A process for each look would be most of what a test costs; what it gives is asked for by curl.
        const look = await fetch(url, { headers: { authorization: `bearer ${TOKENS.all}` } });
        const task = (await look.json()) as Record<string, unknown>;
        if (/^(?:done|failed|deleted)$/.test(String(task['status'])))
          return (await curl('GET', url)).json<Record<string, unknown>>();
        await pause(10);
      }
    },
  };
}
