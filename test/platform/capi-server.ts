import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Asked, change, problem, type Reply } from './capi-changes.ts';
import { CapiModel } from './capi-model.ts';
import { read } from './capi-reads.ts';

/**
 * What happens to the next call that fits. `before`: it is not made; `after`: it is made, and its answer is
 * lost.
 */
export interface Fault {
  readonly call: RegExp;
  /** As a function: what it answers when the call comes, and what it does to the model before. */
  readonly how: 'reset-before' | 'reset-after' | 'gateway-after' | Reply | ((model: CapiModel) => Reply);
}

export const TOKEN = 'bearer tok-8d2f61ac90';

export interface CapiServer extends AsyncDisposable {
  readonly origin: string;
  readonly model: CapiModel;
  /** Used once each, in order. */
  readonly faults: Fault[];
  /** Every call as it arrived: `METHOD /path?query`. */
  readonly calls: string[];
  /** Bodies of the changes, as they arrived. */
  readonly bodies: string[];
  /** What is accepted; anything else is answered with 401. */
  token: string;
}

/** Cloud Foundry's v3 API in miniature, written from its documentation (cloud_controller_ng docs/v3). */
export async function startCapi(): Promise<CapiServer> {
  const model = new CapiModel();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const capi: CapiServer = {
    origin: `http://127.0.0.1:${port}`,
    model,
    faults: [],
    calls: [],
    bodies: [],
    token: TOKEN,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/' } = request;
    const { pathname: path, searchParams: query } = new URL(url, capi.origin);
    const call = `${method} ${url}`;
    capi.calls.push(call);
    if (chunks.length > 0) capi.bodies.push(Buffer.concat(chunks).toString());
    const index = capi.faults.findIndex((fault) => fault.call.test(call));
    const how = index < 0 ? undefined : capi.faults.splice(index, 1)[0]?.how;
    if (how === 'reset-before') return void request.socket.destroy();
    if (typeof how === 'object') return send(response, how);
    if (typeof how === 'function') return send(response, how(model));
    if (request.headers.authorization !== capi.token) {
      return send(response, {
        status: 401,
        body: { errors: [{ code: 1000, detail: 'Invalid Auth Token' }] },
      });
    }
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Asked['body']);
    const asked = { method, path, query, body };
    const reply = method === 'GET' ? read(model, asked) : change(model, asked);
    if (method === 'GET') model.tick();
    if (how === 'reset-after') return void request.socket.destroy();
    send(response, how === 'gateway-after' ? problem(502, 'the router got no answer') : reply);
  }

  return capi;
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}
