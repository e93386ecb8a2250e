import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  createServer as plainServer,
  request as requestTo,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as tlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Identity } from './certificates.ts';

/** What came back from behind. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request whose fate is decided by the handler. */
export interface Passing {
  readonly method: string;
  readonly url: string;
  /** Hands it on, once however often it is called. */
  work(): Promise<Reply>;
  /** Hands it on once more, as something in between does that sends twice. */
  again(): Promise<Reply>;
  readonly response: ServerResponse;
  /** The JSON object of the body; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The answer, as it is to be. */
  give(reply: Reply): void;
}

/** A proxy that can inject faults in front of a server, which does not notice. */
export interface FaultProxy {
  readonly origin: string;
  readonly port: number;
  /** Refuses connections from now on, or takes them again. */
  refuse(refusing: boolean): Promise<void>;
  /** Shows this identity to new connections; only where there is TLS. */
  show(identity: Identity): void;
  /** Closes every connection that is open. */
  drop(): void;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** The origin that is behind. */
  readonly to: string;
  readonly identity?: Identity | undefined;
  readonly pass: (passing: Passing) => Promise<void>;
}

/** Listens on loopback until it is closed. */
export async function startProxy({ to, identity, pass }: ProxyOptions): Promise<FaultProxy> {
  const behind = new URL(to);
  let origin = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    let working: Promise<Reply> | undefined;
    await pass({
      method: request.method ?? '',
      url: request.url ?? '',
      work: () => {
        working ??= forward(behind, request, body);
        return working;
      },
      again: () => forward(behind, request, body),
      response,
      body: objectIn(body),
      give: ({ status, headers, body: bytes }) => {
        const { location, connection: _, 'transfer-encoding': __, 'content-length': ___, ...rest } = headers;
        const moved = location === undefined ? {} : { location: location.replace(behind.origin, origin) };
        const length = status === 204 || status === 304 ? {} : { 'content-length': bytes.length };
        response.writeHead(status, { ...rest, ...moved, ...length }).end(bytes);
      },
    });
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  };
  const open = (): Server =>
    (identity === undefined ? plainServer(listener) : tlsServer({ ...identity }, listener)).on(
      'tlsClientError',
      () => undefined,
    );
  let server = open();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;

  const shut = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    origin,
    port,
    refuse: async (refusing) => {
      if (refusing) return shut();
      if (server.listening) return;
      server = open();
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    show: (other) => {
      if (identity !== undefined) (server as ReturnType<typeof tlsServer>).setSecureContext({ ...other });
    },
    drop: () => server.closeAllConnections(),
    close: shut,
  };
}

function objectIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function forward(behind: URL, request: IncomingMessage, body: Buffer): Promise<Reply> {
  const { host: _, connection: __, ...headers } = request.headers;
  const onward = requestTo({
    hostname: behind.hostname,
    port: behind.port,
    path: request.url ?? '',
    method: request.method ?? '',
    headers,
    agent: false,
  });
  onward.end(body.length === 0 ? undefined : body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}
