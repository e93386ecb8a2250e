import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** The browser of this machine; undefined where there is none. */
export const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** A page of a real browser. */
export interface Tab {
  /** Sends a command of the DevTools protocol. Rejects with what the browser says is wrong. */
  send<Answer>(method: string, parameters?: object): Promise<Answer>;
  /** The value of an expression in the page, once it is there; a promise is awaited. */
  run<Value>(expression: string): Promise<Value>;
  /** Loads an address, and waits for it. */
  open(url: string): Promise<void>;
}

interface Answered {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Starts the browser with an empty profile; `close` ends it and removes that. */
export async function openChromium(): Promise<{ readonly tab: () => Promise<Tab>; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'lifeboat-chromium-'));
  const browser = spawn(
    CHROMIUM ?? '',
    [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run'],
      ...['--disable-background-networking', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
      'about:blank',
    ],
    { stdio: 'ignore', env: { ...process.env, HOME: profile } },
  );
  const ended = once(browser, 'exit');
  const port = join(profile, 'DevToolsActivePort');
  await until(() => existsSync(port) && readFileSync(port, 'utf8').includes('\n'), 60_000);
  const [number = ''] = readFileSync(port, 'utf8').split('\n');
  const sockets: WebSocket[] = [];
  return {
    async tab() {
      const made = await fetch(`http://127.0.0.1:${number}/json/new?about:blank`, { method: 'PUT' });
      const { webSocketDebuggerUrl } = (await made.json()) as { readonly webSocketDebuggerUrl: string };
      const socket = new WebSocket(webSocketDebuggerUrl);
      sockets.push(socket);
      await once(socket, 'open');
      return tabOn(socket);
    },
    async close() {
      for (const socket of sockets) socket.close();
      browser.kill('SIGKILL');
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function tabOn(socket: WebSocket): Promise<Tab> {
  const waiting = new Map<number, (answer: Answered) => void>();
  const listening = new Map<string, () => void>();
  let count = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answered;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else listening.get(answer.method ?? '')?.();
  });
  const send = async <Answer>(method: string, params: object = {}): Promise<Answer> => {
    count += 1;
    const id = count;
    const answer = await new Promise<Answered>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    waiting.delete(id);
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as Answer;
  };
  await send('Page.enable');
  return {
    send,
    async run<Value>(expression: string) {
      const { result, exceptionDetails } = await send<{
        readonly result: { readonly value: Value };
        readonly exceptionDetails?: {
          readonly text: string;
          readonly exception?: { readonly description?: string };
        };
      }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails !== undefined)
        throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async open(url) {
      const loaded = new Promise<void>((resolve) => listening.set('Page.domContentEventFired', resolve));
      await send('Page.navigate', { url });
      await loaded;
    },
  };
}
