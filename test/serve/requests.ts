import { connect } from 'node:net';
import type { TestContext } from 'vitest';
import { readListening } from '../../src/base/listening.ts';
import type { PageSources } from '../../src/serve/app.ts';
import { type FanOut, fanOut } from '../../src/serve/fan-out.ts';
import type { GateOptions } from '../../src/serve/gate.ts';
import { startPageServer } from '../../src/serve/page-server.ts';
import { sourcesOf } from './pages.ts';

/** A server of pages for one test, with the lines of its log. */
export interface Served {
  readonly port: number;
  readonly news: FanOut;
  readonly log: readonly string[];
  /** From now on every field of the pages says this. */
  say(text: string): void;
  /** From now on nothing can be read. */
  spoil(): void;
  /** Sends these lines as they are, and gives everything that comes back until the connection ends. */
  raw(...lines: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

interface Wish {
  readonly proxies?: GateOptions['proxies'];
  readonly news?: FanOut;
  /** What every field of the pages says. */
  readonly text?: string;
}

export async function serve(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { proxies, news = fanOut({ most: 10, size: 78 }), text: first }: Wish = {},
): Promise<Served> {
  const log: string[] = [];
  let sources = sourcesOf(first === undefined ? {} : { text: first });
  let size = 78;
  const now: PageSources = {
    board: () => sources.board(),
    evaluation: () => sources.evaluation(),
    drills: () => sources.drills(),
    run: (id) => sources.run(id),
    report: (id) => sources.report(id),
    size: () => size,
  };
  const server = await startPageServer({
    listening: readListening('127.0.0.1:0') ?? { kind: 'unix', path: '/' },
    ...{ sources: now, news },
    gate: { hosts: new Set(['127.0.0.1', 'dr.example.org', 'page.example.org:8443']), proxies },
    say: (line) => void log.push(line),
    onFailure: (thrown) => void log.push(String(thrown)),
  });
  onTestFinished(() => server.close());
  const port = Number(new URL(server.address).port);
  return {
    ...{ port, news, log },
    say: (text) => {
      sources = sourcesOf({ text });
      size += 1;
    },
    spoil: () => {
      const board = () => Promise.reject(new Error('the connection is refused'));
      sources = { ...sources, board };
      size += 1;
    },
    raw: (...lines) => exchange(port, `${lines.join('\r\n')}\r\n\r\n`),
    close: () => server.close(),
  };
}

async function exchange(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A refused peer may be cut off while it still sends.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(request);
  await closed;
  return Buffer.concat(chunks).toString('utf8');
}
