import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './call.ts';
import { act } from './capi-act.ts';
import { type Land, openLand } from './capi-land.ts';
import { look } from './capi-look.ts';
import { type CapiAnswer, refusal } from './capi-words.ts';

/** A change that the platform was asked for. */
export interface Wish {
  readonly number: number;
  readonly method: string;
  /** With `:app` and `:guid` for ids: `DELETE /v3/service_credential_bindings/:guid`. */
  readonly path: string;
  /** The name of the application, service key or binding that it is about, as far as that is known. */
  readonly about: string;
  readonly body: Json;
  /** How it was answered; `lost` when the connection was cut instead. */
  answered: number | 'lost' | undefined;
  /** Whether it was carried out, or at least begun. */
  did: boolean;
}

/** What goes wrong with one change. */
export interface Mishap {
  /** False: it is not done at all. Default true. */
  readonly work?: boolean;
  /** Words that the job, build or deployment fails with. */
  readonly fails?: string;
  /** How a deployment that fails has ended. Default: `CANCELED`. */
  readonly reason?: 'CANCELED' | 'SUPERSEDED';
  readonly answer?: 'lost' | CapiAnswer;
  /** The answer waits for this promise, after the work is done. */
  readonly until?: Promise<unknown>;
}

export interface ForeignCapiOptions {
  readonly token: string;
  /** A token that may look and not touch. */
  readonly readOnlyToken?: string;
  readonly aheadMs?: number;
  /** How long each stage of a job takes. Default 30. */
  readonly jobMs?: number;
  /** Whether the offering lets its bindings be retrieved. Default true. */
  readonly retrievable?: boolean;
  readonly auditForbidden?: boolean;
  readonly maxBindings?: number;
  /** Whether it has rolling deployments. Default true. */
  readonly deployments?: boolean;
  /** How it names itself in its links. Default: the address that it listens on. */
  readonly origin?: string;
  readonly mishap?: ((wish: Wish) => Mishap | undefined) | undefined;
  /** Asked at every look; an answer stands for the proper one. */
  readonly blind?: (path: string) => CapiAnswer | 'lost' | undefined;
}

export interface ForeignCapi {
  /** As `cf api` would print it. */
  readonly url: string;
  readonly land: Land;
  /** Every change that was asked for, oldest first. */
  readonly wishes: readonly Wish[];
  /** Every call as it came in: `GET /v3/apps?page=1`. */
  readonly calls: readonly string[];
  /** Paths that were looked at although they give credentials away. */
  readonly pried: readonly string[];
  acceptOnly(token: string): void;
  /** Does something after as long as a stage of a job takes. */
  later(work: () => void): void;
  close(): Promise<void>;
}

/** Listens on loopback until it is closed. */
export async function startForeignCapi(options: ForeignCapiOptions): Promise<ForeignCapi> {
  const land = openLand(options.aheadMs ?? 0);
  const wishes: Wish[] = [];
  const pried: string[] = [];
  const calls: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let tokens: readonly (string | undefined)[] = [options.token, options.readOnlyToken];
  let url = '';

  const later = (work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, options.jobMs ?? 30);
    timers.add(timer);
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { pathname, searchParams: query } = new URL(request.url ?? '', url);
    const method = request.method ?? '';
    const token = request.headers.authorization?.replace(/^bearer /iu, '');
    calls.push(`${method} ${request.url}`);
    const common = { land, origin: options.origin ?? url, method, query, body, later };
    const rest = {
      segments: pathname.split('/').slice(2).map(decodeURIComponent),
      retrievable: options.retrievable ?? true,
      auditForbidden: options.auditForbidden ?? false,
      maxBindings: options.maxBindings ?? 1,
      hasDeployments: options.deployments ?? true,
      isReadOnly: token !== undefined && token === options.readOnlyToken,
    };
    if (pathname === '/v3/info') {
      return write(land, response, { status: 200, json: { build: '', custom: land.custom, name: '' } });
    }
    if (token === undefined || !tokens.includes(token)) {
      return write(land, response, refusal(401, 1000, 'CF-InvalidAuthToken', 'Invalid Auth Token'));
    }
    if (method === 'GET') {
      const instead = options.blind?.(pathname);
      const seen = instead ?? look({ ...common, ...rest, fails: undefined, reason: undefined });
      if (seen !== 'lost' && seen.isSecret === true) pried.push(pathname);
      return write(land, response, seen);
    }
    const wish = wishOf(land, wishes.length, method, pathname, body);
    wishes.push(wish);
    const mishap = options.mishap?.(wish) ?? {};
    const words = 'You are not authorized to perform the requested action';
    const proper =
      token === options.readOnlyToken
        ? refusal(403, 10_003, 'CF-NotAuthorized', words)
        : mishap.work === false
          ? undefined
          : act({ ...common, ...rest, fails: mishap.fails, reason: mishap.reason });
    await mishap.until;
    const given = mishap.answer ?? proper ?? 'lost';
    wish.did = proper !== undefined && proper.status < 300;
    wish.answered = given === 'lost' ? 'lost' : given.status;
    write(land, response, given);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    land,
    wishes,
    calls,
    pried,
    later,
    acceptOnly: (token) => {
      tokens = [token];
    },
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function write(land: Land, response: ServerResponse, answer: CapiAnswer | 'lost'): void {
  if (answer === 'lost') {
    response.destroy();
    return;
  }
  const { status, json, headers } = answer;
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      date: new Date(land.now()).toUTCString(),
      'x-ratelimit-limit': '2000',
      'x-ratelimit-remaining': '1999',
      ...headers,
    })
    .end(json === undefined ? undefined : JSON.stringify(json));
}

function wishOf(land: Land, number: number, method: string, path: string, body: Json): Wish {
  const text = `${path} ${JSON.stringify(body)}`;
  const binding = land.bindings.find(({ guid }) => path.endsWith(guid));
  const app = binding?.app ?? land.apps.find((one) => text.includes(one.guid) || text.includes(one.package));
  const key = binding?.name ?? (typeof body['name'] === 'string' ? body['name'] : 'nobody');
  const about = app === undefined ? key : `${app.space.name}/${app.name}`;
  const plain = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, ':guid');
  return { number, method, path: plain, about, body, answered: undefined, did: false };
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Json);
}
