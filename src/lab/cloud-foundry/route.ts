import type { LabContext } from '../http/request.ts';
import type { Right } from '../http/tokens.ts';
import { badQuery, notFound } from './cf-error.ts';
import { labelSelector, type Metadata } from './metadata.ts';
import type { Platform } from './platform.ts';

export interface CfRequest {
  readonly platform: Platform;
  readonly origin: string;
  readonly context: LabContext;
  readonly holds: Right;
  /** JSON, if any. */
  readonly body: unknown;
  param(name: string): string;
}

export interface CfReply {
  /** Default: 200. */
  readonly status?: 200 | 201 | 202 | 204;
  readonly json?: object;
  readonly location?: string;
}

/** Of the platform's API. Throws a `CfError` for what it does not do. */
export interface CfRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Default: `read` for GET, `write` for others. */
  readonly right?: Right;
  answer(request: CfRequest): CfReply | Promise<CfReply>;
}

export function get(
  path: string,
  tell: (request: CfRequest) => object,
  right: CfRoute['right'] = 'read',
): CfRoute {
  return { method: 'GET', path, right, answer: (request) => ({ json: tell(request) }) };
}

const PER_PAGE = 50;
const MAX_PER_PAGE = 5000;
const ALWAYS = ['page', 'per_page', 'order_by', 'created_ats', 'updated_ats'];

/** Refuses unknown names, as the platform does. */
export function queryOf(context: LabContext, known: readonly string[]): Readonly<Record<string, string>> {
  const query = context.req.query();
  const valid = [...ALWAYS, ...known];
  const unknown = Object.keys(query).filter((name) => !valid.includes(name.replace(/\[\w+\]$/u, '')));
  if (unknown.length === 0) return query;
  const names = unknown.slice(0, 5).map((name) => `'${name.slice(0, 60)}'`);
  throw badQuery(
    `Unknown query parameter(s): ${names.join(', ')}. Valid parameters are: '${valid.join("', '")}'`,
  );
}

/** Without a filter every value matches. */
export function oneOf(filter: string | undefined, value: string | null | undefined): boolean {
  if (filter === undefined) return true;
  return value != null && filter.split(',').includes(value);
}

export function selected(selector: string | undefined, { labels }: Metadata): boolean {
  return selector === undefined || labelSelector(selector)(labels);
}

/** With links to the other pages. `rows` are oldest first. */
export function paged<Row>(
  { context, origin }: CfRequest,
  rows: readonly Row[],
  present: (row: Row, origin: string) => object,
): { readonly pagination: object; readonly resources: readonly object[] } {
  const page = wholeNumber(context, 'page', 1, Number.MAX_SAFE_INTEGER);
  const perPage = wholeNumber(context, 'per_page', PER_PAGE, MAX_PER_PAGE);
  const ordered = context.req.query('order_by') === '-created_at' ? rows.toReversed() : rows;
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const { pathname, searchParams } = new URL(context.req.url);
  const at = (number: number) => {
    const query = new URLSearchParams(searchParams);
    query.set('page', String(number));
    query.set('per_page', String(perPage));
    return { href: `${origin}${pathname}?${query}` };
  };
  return {
    pagination: {
      total_results: rows.length,
      total_pages: pages,
      first: at(1),
      last: at(pages),
      next: page < pages ? at(page + 1) : null,
      previous: page > 1 ? at(page - 1) : null,
    },
    resources: ordered.slice((page - 1) * perPage, page * perPage).map((row) => present(row, origin)),
  };
}

/** The one that the path names. Throws 404; `what` is the platform's word for it. */
export function named<Thing extends { readonly guid: string }>(
  things: readonly Thing[],
  { param }: CfRequest,
  what: string,
): Thing {
  const found = things.find(({ guid }) => guid === param('guid'));
  if (found === undefined) throw notFound(what);
  return found;
}

function wholeNumber(context: LabContext, name: string, otherwise: number, most: number): number {
  const text = context.req.query(name);
  if (text === undefined) return otherwise;
  const number = /^\d{1,9}$/u.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  const title =
    name === 'page' ? 'Page must be a positive integer' : `Per page must be between 1 and ${MAX_PER_PAGE}`;
  throw badQuery(title);
}
