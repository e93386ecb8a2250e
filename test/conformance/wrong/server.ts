import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './answers.ts';
import { type Call, makeService, type Service } from './service.ts';

/** What makes a right server wrong. */
export interface Mutation {
  /** What is wrong with it. */
  readonly what: string;
  /** Both when left out. */
  readonly revision?: 61 | 62;
  /** The instance without continuous archiving is the one that is tested. */
  readonly standard?: true;
  /** Changes what the server understands. */
  readonly before?: (call: Call, service: Service) => Call;
  /** Changes what the server says. */
  readonly after?: (answer: Answer, call: Call, service: Service) => Answer;
  /** Ids of the checks that are meant for it, or beginnings of ids with a star; each of them must fail. */
  readonly caughtBy: readonly string[];
}

export interface WrongServer {
  /** Dashboard addresses. */
  readonly url: string;
  readonly target: string;
  readonly service: Service;
  close(): Promise<void>;
}

export async function openWrongServer(
  revision: 61 | 62,
  { before = (call) => call, after = (answer) => answer }: Partial<Mutation> = {},
): Promise<WrongServer> {
  const service = makeService(revision);
  const server = createServer(async (request, response) => {
    const call = before(await readCall(request), service);
    const { status, body, headers = {} } = after(service.answer(call), call, service);
    if (Buffer.isBuffer(body)) {
      response.writeHead(status, { 'content-type': 'application/gzip', ...headers }).end(body);
    } else {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dashboard = (index: number) =>
    `http://127.0.0.1:${port}/service-instances/${service.instances[index]?.guid}`;
  return {
    url: dashboard(0),
    target: dashboard(1),
    service,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  const url = new URL(request.url ?? '/', 'http://server');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    authorization: request.headers.authorization,
    token: request.headers.authorization?.replace(/^bearer /i, ''),
    cookie: request.headers.cookie,
    body: text === '' ? {} : JSON.parse(text),
  };
}
