import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

/** A request as received. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Respond = (request: WireRequest, socket: Socket) => void;

export interface FaultServer {
  readonly origin: string;
  readonly port: number;
  readonly requests: WireRequest[];
  connections(): number;
  /** Bytes received over all connections, whether requests or not. */
  bytes(): number;
  /** The protocols that clients' TLS connections negotiated by ALPN. */
  readonly protocols: (string | false)[];
  /** Resolves when no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** A server of raw bytes: `respond` writes, truncates and stalls at will, for each request. */
export async function startFaultServer(
  respond: Respond,
  tls?: { key: string; cert: string; ALPNProtocols?: string[] },
): Promise<FaultServer> {
  const requests: WireRequest[] = [];
  const protocols: (string | false)[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  let bytes = 0;
  let onQuiet: (() => void) | undefined;
  const onSocket = (socket: Socket) => {
    connections += 1;
    if ('alpnProtocol' in socket) protocols.push((socket as TLSSocket).alpnProtocol ?? false);
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) onQuiet?.();
    });
    socket.on('data', (chunk) => (bytes += chunk.length));
    readRequests(socket, (request) => {
      requests.push(request);
      respond(request, socket);
    });
  };
  const server: Server =
    tls === undefined
      ? createServer(onSocket)
      : createTlsServer(tls, onSocket).on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    protocols,
    connections: () => connections,
    bytes: () => bytes,
    quiet: () =>
      new Promise((resolve) => {
        if (open.size === 0) resolve();
        else onQuiet = resolve;
      }),
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function readRequests(socket: Socket, onRequest: (request: WireRequest) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
      const [method = '', path = ''] = first.split(' ');
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      );
      const whole = end + 4 + Number(headers['content-length'] ?? 0);
      if (bytes.length < whole) return;
      const body = bytes.subarray(end + 4, whole).toString('utf8');
      bytes = bytes.subarray(whole);
      onRequest({ method, path, headers, body });
    }
  });
}

/** A complete answer with its length. */
export function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${body}`;
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): string {
  return answer(status, JSON.stringify(value), headers);
}
