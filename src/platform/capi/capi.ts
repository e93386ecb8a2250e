import * as z from 'zod';
import { isoOf } from '../../base/date.ts';
import { LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { badAnswer, hasCode } from '../problem.ts';
import { AuditEvent, Pagination } from './schemas.ts';

/** An answer, with the platform's clock, if given. */
export interface Reported<T> {
  readonly value: T;
  readonly at: Date | undefined;
}

/**
 * Reads Cloud Foundry's v3 API. `path` begins with `/v3/` and is encoded. Rejects as documented at
 * `Platform`; `platform.not-found` is a 404.
 */
export interface Capi {
  get<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<Reported<T>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

const PER_PAGE = 200;
/** 40,000 of one kind: a larger platform must be searched by hand. */
const MAX_PAGES = 200;

/** `/v3/apps?names=a` */
function pathOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return search.length === 0 ? path : `${path}?${search.join('&')}`;
}

/** Counts the pages of a list here: the platform's address of the next one is not followed. */
export async function listAll<T>(
  capi: Capi,
  path: string,
  query: Query,
  resource: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const pages = await readPages(capi, path, query, z.object({ resources: z.array(resource) }), signal);
  return pages.flatMap((page) => page.resources);
}

/** As `listAll`, with what the platform includes beside the list. */
export async function readPages<T>(
  capi: Capi,
  path: string,
  query: Query,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const whole = z.intersection(schema, z.object({ pagination: Pagination.nullish() }));
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const paged = { ...query, per_page: String(PER_PAGE), page: String(page) };
    const { value } = await capi.get(pathOf(path, paged), whole, signal);
    found.push(value);
    const more = value.pagination?.next != null && page < (value.pagination.total_pages ?? MAX_PAGES + 1);
    if (!more) return found;
  }
  throw badAnswer(`the platform has more than ${MAX_PAGES * PER_PAGE} entries at ${path}`);
}

/** The value; undefined if the platform does not know it. */
export async function getIfThere<T>(
  capi: Capi,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<Reported<T> | undefined> {
  try {
    return await capi.get(path, schema, signal);
  } catch (thrown) {
    if (hasCode(thrown, 'platform.not-found')) return undefined;
    throw thrown;
  }
}

/** The value; undefined if the platform does not report it to this token, or at all. */
export async function getIfReported<T>(
  capi: Capi,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return (await capi.get(path, schema, signal)).value;
  } catch (thrown) {
    if (hasCode(thrown, ...NOT_TOLD)) return undefined;
    throw thrown;
  }
}

/** Codes for what the platform does not report: not to this token, not at all, or not readably. */
export const NOT_TOLD = [
  'platform.not-found',
  'platform.forbidden',
  'platform.refused',
  'platform.bad-answer',
  'platform.too-large',
] as const;

const MAX_EVENTS = 50;
const TELLING = /^audit\.(?:service_binding|service_key|app)\./u;

/** The platform's own record since then, an independent witness. Best effort: may be empty. */
export async function auditEvents(
  capi: Capi,
  targets: readonly string[],
  since: string,
  signal: AbortSignal,
): Promise<{ readonly auditEvents?: string[] }> {
  const ms = msOf(since);
  if (targets.length === 0 || Number.isNaN(ms)) return {};
  const path = pathOf('/v3/audit_events', {
    target_guids: targets.join(','),
    'created_ats[gt]': `${isoOf(ms - 1_000).slice(0, 19)}Z`,
    order_by: 'created_at',
    per_page: String(MAX_EVENTS),
  });
  try {
    const { value } = await capi.get(path, z.object({ resources: z.array(AuditEvent) }), signal);
    const events = value.resources.filter(({ type }) => TELLING.test(type)).slice(0, MAX_EVENTS);
    return events.length === 0 ? {} : { auditEvents: events.map(({ type, guid }) => `${type} ${guid}`) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code !== 'platform.stopped') return {};
    throw thrown;
  }
}
