import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { EXIT, errorCode, LifeboatError } from '../base/errors.ts';
import type { Listening } from '../base/listening.ts';
import { show } from '../base/text.ts';
import { type AppOptions, pageApp, SAFE_HEADERS } from './app.ts';
import { admit, type GateOptions, LONGEST_TARGET, plainAddress, type Refusal } from './gate.ts';
import { refusalLog } from './refusal-log.ts';

export interface ServerOptions extends AppOptions {
  readonly listening: Listening;
  readonly gate: GateOptions;
  /** A line for the log: printable, without its time. */
  readonly say: (line: string) => void;
}

export interface PageServer {
  /** `http://127.0.0.1:8437/`, or the path of the socket. */
  readonly address: string;
  /** Takes nothing new, ends every stream, and waits for the rest for a moment. */
  close(): Promise<void>;
}

/** As many connections at once: each stream is one, and a browser opens six. */
const MOST_CONNECTIONS = 1_024;
const LONGEST_HEADERS = 16 * 1024;
/** How long what is being sent may take when the server closes. Milliseconds. */
const CLOSE_MS = 2_000;
/** People logged at their first visit. */
const MOST_PEOPLE = 500;

/** Serves the pages. Rejects with `serve.listen` (exit 2) where it cannot listen there. */
export async function startPageServer(options: ServerOptions): Promise<PageServer> {
  const { listening, say, news, gate } = options;
  const log = refusalLog(say);
  const people = new Set<string>();
  const answer = getRequestListener(pageApp(options).fetch, { overrideGlobalObjects: false });

  const refuse = (request: IncomingMessage, response: ServerResponse, refusal: Refusal) => {
    const { method = '', url: target = '' } = request;
    const host = refusal.status === 421 ? request.headers.host : undefined;
    log.tell({ ...refusal, peer: peerOf(request.socket), method, target, host });
    response.writeHead(refusal.status, {
      ...SAFE_HEADERS,
      'Content-Type': 'text/plain; charset=utf-8',
      // The rest of such a connection is not worth reading.
      Connection: 'close',
      ...(refusal.status === 405 ? { Allow: 'GET, HEAD' } : {}),
    });
    response.end(method === 'HEAD' ? undefined : `${refusal.why}\n`);
  };
  const server = createServer(
    { maxHeaderSize: LONGEST_HEADERS, requireHostHeader: false, connectionsCheckingInterval: 5_000 },
    async (request, response) => {
      const admitted = await admit(request, gate);
      if ('status' in admitted) return refuse(request, response, admitted);
      const { person } = admitted;
      if (person !== undefined && !people.has(person) && people.size < MOST_PEOPLE) {
        people.add(person);
        say(`${person} looks on, through ${peerOf(request.socket)}`);
      }
      await answer(request, response);
    },
  );
  Object.assign(server, { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 5_000 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('drop', (dropped) =>
    log.tell({
      ...TOO_MANY,
      peer: peerOf({ remoteAddress: dropped?.remoteAddress }),
      method: '',
      target: '',
    }),
  );
  server.on('connect', (request, socket) => {
    log.tell({ ...NO_TUNNEL, peer: peerOf(request.socket), method: 'CONNECT', target: '' });
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nConnection: close\r\n\r\n');
  });
  server.on(
    'clientError',
    (error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket: Socket) => {
      const refusal = refusalOf(error);
      if (refusal === undefined || !socket.writable) return void socket.destroy();
      log.tell({ ...refusal, peer: peerOf(socket), method: '', target: '' });
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    },
  );
  await listen(server, listening);
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? (bound as AddressInfo).port : undefined;
  return {
    address: addressOf(listening, port),
    async close() {
      if (!server.listening) return;
      news.close();
      log.end();
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

const TOO_MANY = { status: 503, why: 'as many connections are open as may; it was cut' } as const;
const NO_TUNNEL = { status: 405, why: 'only GET and HEAD are answered' } as const;

/** For bytes that are no HTTP request; undefined if the client waits for no answer. */
function refusalOf({
  code,
  rawPacket,
}: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): Refusal | undefined {
  if (code === 'HPE_INVALID_METHOD') return NO_TUNNEL;
  if (code === 'HPE_HEADER_OVERFLOW') {
    const isTarget = rawPacket === undefined || rawPacket.subarray(0, LONGEST_TARGET).indexOf('\n') === -1;
    return isTarget
      ? { status: 414, why: 'the address is too long' }
      : { status: 431, why: 'the headers are too long' };
  }
  return code?.startsWith('HPE_') === true ? { status: 400, why: 'this is no request of HTTP' } : undefined;
}

async function listen(server: Server, listening: Listening): Promise<void> {
  try {
    if (listening.kind === 'unix') await removeLeftSocket(listening.path);
    server.listen(listening.kind === 'unix' ? { path: listening.path } : listening);
    await once(server, 'listening');
    // A proxy of the same group may ask.
    if (listening.kind === 'unix') chmodSync(listening.path, 0o660);
  } catch (cause) {
    const where = listening.kind === 'unix' ? listening.path : `${listening.host}:${listening.port}`;
    const code = errorCode(cause) ?? '';
    throw new LifeboatError(
      'serve.listen',
      `the page cannot listen on ${show(where, 120)}: ${whyNot(code, listening) ?? code}`,
      {
        hints: [
          listening.kind === 'unix'
            ? 'name another path with --listen, in a folder that this user may write to'
            : 'name another place with --listen, such as 127.0.0.1:0 for any free port',
          'nothing was started',
        ],
        exitCode: EXIT.usage,
        cause,
      },
    );
  }
}

/** Node reports a missing folder of a socket as EACCES. */
function whyNot(code: string, { kind }: Listening): string | undefined {
  if (code !== 'EACCES') return WHY[code];
  return kind === 'unix'
    ? 'its folder does not exist, or this user may not write to it'
    : 'it is not allowed';
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something is there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOENT: 'there is no such folder',
};

/** The socket of a process that died stays in its folder; that of one that lives answers. */
async function removeLeftSocket(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const probe = connect(path);
  const isLeft = await new Promise<boolean>((resolve) => {
    probe.once('connect', () => resolve(false));
    probe.once('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED'));
  });
  probe.destroy();
  if (isLeft) rmSync(path, { force: true });
}

function addressOf(listening: Listening, port: number | undefined): string {
  if (listening.kind === 'unix') return listening.path;
  const host = listening.host.includes(':') ? `[${listening.host}]` : listening.host;
  return `http://${host}:${port ?? listening.port}/`;
}

function peerOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress === undefined ? 'the socket' : plainAddress(remoteAddress);
}
