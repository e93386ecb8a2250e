import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Passing, Reply } from './proxy.ts';
import type { Peer } from './seen.ts';

/** Every way in which one request can go wrong, in the order of the table. */
export const FAULTS = [
  '100',
  '401',
  '403',
  '404',
  '409',
  '412',
  '422',
  '429',
  '429-after',
  '500',
  '502',
  '504',
  'refused',
  'reset-before',
  'reset-after',
  'silent',
  'header-only',
  'truncated',
  'html',
  'page',
  '204',
  'wrong-types',
  'unknown-enum',
  'odd-rows',
  'future',
  '100-mib',
  'redirect',
  'expired-certificate',
  'wrong-host',
  'unknown-ca',
  'old-id',
  'wrong-id',
  'other-instance',
  'sent-twice',
  'restless',
  'task-failed',
  'task-stuck',
  'task-gone',
  'two-candidates',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What happens before there is a request. */
export const AT_CONNECT: ReadonlySet<Fault> = new Set<Fault>([
  'refused',
  'expired-certificate',
  'wrong-host',
  'unknown-ca',
]);
export const BY_TLS: ReadonlySet<Fault> = new Set<Fault>(['expired-certificate', 'wrong-host', 'unknown-ca']);
/** The answer names a task that was there before. */
export const NAMES_OLD: ReadonlySet<Fault> = new Set<Fault>(['old-id', 'wrong-id']);
/** The answer is the true one, or as good as that for its reader. */
export const HARMLESS: ReadonlySet<Fault> = new Set<Fault>(['100', 'odd-rows', 'future', 'sent-twice']);
/** Where a fault is about something that only some answers have. */
const CONCERNS: Partial<Record<Fault, RegExp>> = {
  'odd-rows': /^GET \S+ \/(?:backups|restores)(?: |$)/u,
  'other-instance':
    /^(?:POST \S+ (?:\/backups$|\S+\/(?:restore|perform))|GET \S+ \/(?:backups|restores)\/:id)$/u,
};

/** Whether it can happen to the answers of this route. */
export function concerns(fault: Fault, route: string): boolean {
  return CONCERNS[fault]?.test(route) ?? true;
}

/** What becomes of the task that a call begins; the call itself goes well, but for the last. */
export const OF_TASKS: ReadonlySet<Fault> = new Set<Fault>([
  'task-failed',
  'task-stuck',
  'task-gone',
  'two-candidates',
]);

/** A place on another origin; a request there has followed a redirect. */
export interface Elsewhere {
  readonly origin: string;
}

/** Lets a request meet a fault. Resolves when nothing more is done about it. */
export async function meet(fault: Fault, passing: Passing, peer: Peer, elsewhere: Elsewhere): Promise<void> {
  const { response, work, give } = passing;
  if (fault === '100') response.writeContinue();
  const [status] = /^[2-5]\d\d(?=$|-after$)/u.exec(fault) ?? [];
  if (status !== undefined && status !== '204') {
    // The router gave up, or counts requests, and the work is still done.
    if (fault === '504' || fault === '429-after') await work();
    return refuse(response, Number(status), peer, passing.url);
  }
  if (fault === 'redirect') {
    response.writeHead(307, { location: `${elsewhere.origin}${passing.url}` }).end();
    return;
  }
  if (fault === 'html') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Log in</title>');
    return;
  }
  if (fault === 'page') {
    const type = passing.url.endsWith('/download') ? 'application/octet-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type }).end('<!doctype html><title>Log in</title>');
    return;
  }
  if (fault === 'reset-before') {
    response.destroy();
    return;
  }
  const reply = await work();
  const { headers, body } = reply;
  const type = { 'content-type': headers['content-type'] ?? 'application/json' };
  if (fault === '100') give(reply);
  else if (fault === 'reset-after') response.destroy();
  else if (fault === 'header-only') response.writeHead(reply.status, type).flushHeaders();
  else if (fault === 'truncated') cut(response, reply);
  else if (fault === '204') response.writeHead(204).end();
  else if (fault === '100-mib') await flood(response, reply.status);
  else if (fault === 'restless') give({ ...reply, body: changed(body, withLaterUpdate) });
  else if (fault === 'wrong-types') give({ ...reply, body: changed(body, ofOtherType) });
  else if (fault === 'unknown-enum') give({ ...reply, body: changed(body, withStrangeWords) });
  else if (fault === 'odd-rows') give({ ...reply, body: changed(body, withOddRow) });
  else if (fault === 'future') give({ ...reply, body: changed(body, fiveHoursAhead) });
  else if (fault === 'other-instance') give({ ...reply, body: changed(body, ofOtherInstance) });
  // What is left is silence.
}

/** In the words of the side that is asked (service-api.md section 7; the v3 API of Cloud Foundry). */
function refuse(response: ServerResponse, status: number, peer: Peer, url: string): void {
  const headers = { 'content-type': 'application/json', ...(status === 429 ? { 'retry-after': '1' } : {}) };
  const words = `as wished: ${status}`;
  const isV0 = url.startsWith('/service-instances/');
  const own = url.endsWith('/download')
    ? { message: words, status }
    : { error: 'asWished', description: words };
  const body =
    peer === 'platform'
      ? { errors: [{ code: 10_000 + status, title: 'CF-AsWished', detail: words }] }
      : isV0
        ? { msg: words }
        : own;
  response.writeHead(status, headers).end(JSON.stringify(body));
}

/** Half of a file, with the length of the whole; half of any other answer, as if that were all. */
function cut(response: ServerResponse, { status, headers, body }: Reply): void {
  const half = body.subarray(0, Math.ceil(body.length / 2));
  const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...rest } = headers;
  if (/json/iu.test(String(headers['content-type'])) || body.length === 0) {
    response.writeHead(status, rest).end(half);
    return;
  }
  response.writeHead(status, { ...rest, 'content-length': body.length });
  // Not destroyed: that can take away what was sent before it, the headers as well.
  response.write(half, () => response.socket?.end());
}

const MIB = Buffer.from(`${'[1],'.repeat(2 ** 18)}`);

/** A list that is larger than anything, whether its reader goes on or not. */
async function flood(response: ServerResponse, status: number): Promise<void> {
  response.writeHead(status, { 'content-type': 'application/json' });
  await pipeline(['[', ...Array.from({ length: 100 }, () => MIB), '1]'], response).catch(() => undefined);
}

function changed(body: Buffer, change: (value: unknown) => unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(change(JSON.parse(body.toString()))));
  } catch {
    return body;
  }
}

/** Numbers are texts, texts are numbers, lists are things and things are lists. */
function ofOtherType(value: unknown): unknown {
  if (Array.isArray(value)) return { items: value };
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 7 : String(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, ofOtherType(one)]));
}

/** An instance whose time of change is that of the look at it. */
function withLaterUpdate(value: unknown): unknown {
  const isOverview = typeof value === 'object' && value !== null && 'updated_at' in value;
  return isOverview ? { ...value, updated_at: new Date().toISOString() } : value;
}

function withStrangeWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangeWords);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      /^(?:status|state|backup_type)$/u.test(name) && typeof one === 'string'
        ? 'levitating'
        : withStrangeWords(one),
    ]),
  );
}

/** A list with one more row, that cannot be read. Alone it has to tell an id: else it is no list of tasks. */
function withOddRow(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return [{ id: value.length === 0 ? 1 : 'x', status: null }, ...value];
}

/** Local time that is written as if it were UTC. */
function fiveHoursAhead(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fiveHoursAhead);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fiveHoursAhead(one)]));
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/u.test(value)) return value;
  return new Date(Date.parse(value) + 5 * 3_600_000).toISOString();
}

/** No instance here has this many tasks. */
const ELSEWHERE = 900_000;

/** The same of a task that another instance has. */
function ofOtherInstance(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      /^(?:id|restore_id)$/u.test(name) && typeof one === 'number' ? one + ELSEWHERE : one,
    ]),
  );
}
