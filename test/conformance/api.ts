import { CookieJar } from 'tough-cookie';
import { type Dispatcher, request } from 'undici';
import { Violation } from './check.ts';
import type { Exchange } from './exchange.ts';

export type Method = 'GET' | 'POST' | 'PATCH';

/** Where the service is and who asks. */
export interface Access {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly instance: string;
  /** The whole Authorization header; undefined sends none. */
  readonly authorization: string | undefined;
  /** Called with every answer and its headers. */
  readonly watch: (exchange: Exchange, headers: string) => void;
  /** Milliseconds until the headers of an answer, and between pieces of its body. */
  readonly patience: number;
}

export interface Ask {
  readonly body?: unknown;
  /** Sent as it stands, as JSON. */
  readonly raw?: string;
}

/** The start of a body of any length, and how long it was. */
export interface Download {
  readonly exchange: Exchange;
  readonly first: Buffer;
  /** Bytes read. */
  readonly received: number;
  /** False when reading stopped early, since the body is longer than asked for. */
  readonly whole: boolean;
}

/**
 * Calls on one instance by one caller. Answers of any status resolve; a connection that fails rejects with a
 * `Violation`.
 */
export interface Api {
  readonly access: Access;
  /** Below `/v1/instances/ID`. Redirects are answers like any other. */
  v1(method: Method, path: string, ask?: Ask): Promise<Exchange>;
  /** Below `/service-instances/ID`, with a cookie jar and redirects followed within the origin. */
  v0(method: Method, path: string, ask?: Ask): Promise<Exchange>;
  /** Reads at most `limit` bytes of the body, and no more than an error text of any status but 200. */
  download(base: 'v0' | 'v1', method: Method, path: string, limit: number): Promise<Download>;
  /** The same with something changed, and an empty cookie jar. */
  with(change: Partial<Access>): Api;
}

const TEXT_LIMIT = 16 * 2 ** 20;
const HOPS = 10;

export function makeApi(access: Access): Api {
  const jar = new CookieJar();
  const v1Path = (path: string) => `/v1/instances/${encodeURIComponent(access.instance)}${path}`;
  const v0Path = (path: string) => `/service-instances/${encodeURIComponent(access.instance)}${path}`;
  const bodyOf = ({ body, raw }: Ask) => raw ?? (body === undefined ? undefined : JSON.stringify(body));

  const v1: Api['v1'] = async (method, path, ask = {}) => {
    const sent = bodyOf(ask);
    return await readText(access, await send(access, undefined, method, v1Path(path), sent), sent);
  };
  /**
   * A POST that is redirected would arrive as a GET: whatever session the server wants is got by a GET first.
   */
  const openSession = async () => {
    if (jar.getCookieStringSync(access.origin + v0Path('')) !== '') return;
    const answer = await follow(access, jar, 'GET', v0Path('/backups'), undefined);
    await readText(access, answer, undefined);
  };
  const v0: Api['v0'] = async (method, path, ask = {}) => {
    if (method !== 'GET') await openSession();
    const sent = bodyOf(ask);
    return await readText(access, await follow(access, jar, method, v0Path(path), sent), sent);
  };
  const download: Api['download'] = async (base, method, path, limit) => {
    if (base === 'v0' && method !== 'GET') await openSession();
    const answer =
      base === 'v1'
        ? await send(access, undefined, method, v1Path(path), undefined)
        : await follow(access, jar, method, v0Path(path), undefined);
    return await readDownload(access, answer, limit);
  };
  return { access, v1, v0, download, with: (change) => makeApi({ ...access, ...change }) };
}

interface Answer {
  readonly method: Method;
  readonly path: string;
  readonly response: Dispatcher.ResponseData;
}

/** Sends once. Nothing here or below sends a second time. */
async function send(
  access: Access,
  jar: CookieJar | undefined,
  method: Method,
  path: string,
  body: string | undefined,
): Promise<Answer> {
  const url = access.origin + path;
  const cookie = jar?.getCookieStringSync(url) ?? '';
  const headers = {
    accept: 'application/json, */*;q=0.5',
    ...(access.authorization === undefined ? {} : { authorization: access.authorization }),
    ...(cookie === '' ? {} : { cookie }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const limits = { headersTimeout: access.patience, bodyTimeout: access.patience };
  try {
    const response = await request(url, {
      method,
      headers,
      ...limits,
      ...(body === undefined ? {} : { body }),
    });
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      jar?.setCookieSync(line, url, { ignoreError: true });
    }
    return { method, path, response };
  } catch (error) {
    throw new Violation(`no answer to ${method} ${path}: ${reasonOf(error)}`);
  }
}

/** Follows redirects with cookies, and never to another origin: the token would go along. */
async function follow(
  access: Access,
  jar: CookieJar,
  method: Method,
  path: string,
  body: string | undefined,
): Promise<Answer> {
  let answer = await send(access, jar, method, path, body);
  for (let hop = 0; hop < HOPS; hop++) {
    const { statusCode, headers } = answer.response;
    const location = [headers['location'] ?? []].flat()[0];
    if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return answer;
    const exchange = await readText(access, answer, body);
    const next = URL.parse(location, access.origin + answer.path);
    if (next === null) throw new Violation('redirects to what is no address', exchange);
    if (next.origin !== access.origin) throw new Violation('redirects to another origin', exchange);
    if (method !== 'GET' && statusCode < 307)
      throw new Violation('redirects a call that changes things', exchange);
    answer = await send(access, jar, method, next.pathname + next.search, body);
  }
  throw new Violation(`redirects more than ${HOPS} times`, await readText(access, answer, body));
}

async function readText(access: Access, answer: Answer, sent: string | undefined): Promise<Exchange> {
  const { body } = await readBody(answer, TEXT_LIMIT);
  const exchange = exchangeOf(answer, sent, body.toString());
  access.watch(exchange, JSON.stringify(answer.response.headers));
  return exchange;
}

async function readDownload(access: Access, answer: Answer, limit: number): Promise<Download> {
  if (answer.response.statusCode !== 200) {
    const exchange = await readText(access, answer, undefined);
    return { exchange, first: Buffer.alloc(0), received: 0, whole: true };
  }
  const { body, received, whole } = await readBody(answer, limit, 64);
  const exchange = exchangeOf(answer, undefined, `${received} bytes${whole ? '' : ' and more'}`);
  access.watch(exchange, JSON.stringify(answer.response.headers));
  return { exchange, first: body, received, whole };
}

/** Reads up to `limit` bytes and keeps the first `keep` of them. */
async function readBody(answer: Answer, limit: number, keep = limit) {
  const pieces: Buffer[] = [];
  let received = 0;
  let kept = 0;
  let whole = true;
  try {
    for await (const piece of answer.response.body as AsyncIterable<Buffer>) {
      received += piece.length;
      if (kept < keep) {
        pieces.push(piece.subarray(0, keep - kept));
        kept = Math.min(keep, kept + piece.length);
      }
      if (received > limit) {
        whole = false;
        break;
      }
    }
  } catch (error) {
    throw new Violation(`the answer to ${answer.method} ${answer.path} broke off: ${reasonOf(error)}`);
  }
  return { body: Buffer.concat(pieces), received, whole };
}

function exchangeOf({ method, path, response }: Answer, sent: string | undefined, text: string): Exchange {
  const header = (name: string) => [response.headers[name] ?? []].flat()[0] ?? '';
  const length = header('content-length');
  const date = Date.parse(header('date'));
  return {
    method,
    path,
    sent,
    status: response.statusCode,
    contentType: (header('content-type').split(';')[0] ?? '').trim().toLowerCase(),
    contentLength: length === '' ? undefined : Number(length),
    date: Number.isNaN(date) ? undefined : date,
    text,
    json: parsed(text),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `${error.message} (${String(error.code)})` : error.message;
}
