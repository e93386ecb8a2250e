import type { HttpExchange } from '../../base/http-exchange.ts';
import { printableJson, show } from '../../base/text.ts';
import { jsonIn } from '../../store/canonical.ts';

/** An HTTP request with its destination, still including its secrets. */
export interface HttpCall extends HttpExchange {
  readonly kind: 'service' | 'platform';
  /** Its destination: the instance's name in the config, or `platform`. */
  readonly to: string;
}

export interface Blanks {
  /** The longest first, so that no part of one remains. */
  readonly known: readonly string[];
  /** Such as the fingerprint of a key. */
  readonly name: (secret: string) => string;
}

const SECRET = '[secret]';

/** Headers whose values are not secret; for all others only the name is written. */
const REQUEST_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'user-agent',
  'range',
  'if-range',
]);
const ANSWER_HEADERS = [
  'content-type',
  'content-length',
  'content-range',
  'date',
  'etag',
  'retry-after',
  'x-request-id',
  'x-vcap-request-id',
];
/** Query parameters of the platform's lists. */
const OPEN_QUERY =
  /^(?:\w+_guids?|guids|names|include|order_by|page|per_page|types?|states|label_selector|created_ats)(?:\[\w+\])?$/u;

export function transcriptLine(no: number, call: HttpCall, blanks: Blanks): string {
  return printableJson({ no, ...httpFields(call, blanks) });
}

/** The line for a call whose own line would still have held a secret. */
export function withheldLine(no: number, call: HttpCall): string {
  return printableJson({
    no,
    at: call.at.toISOString(),
    to: call.to,
    method: call.method,
    status: call.status,
    ms: Math.round(call.ms),
    withheld: 'the rest of this line would have shown a secret',
  });
}

function httpFields(call: HttpCall, blanks: Blanks) {
  const { kind, to, at, method, url, headers, body, status, answerHeaders, bytes, ms, error } = call;
  const { sha256, json } = keptAnswer(call, blanks);
  return {
    at: at.toISOString(),
    to,
    method,
    url: openUrl(url, kind),
    headers: requestHeaders(headers),
    ...(body === undefined ? {} : { body: blankBody(body, kind, blanks) }),
    ...(status === undefined
      ? {}
      : { status, answer: { headers: answeredHeaders(answerHeaders), bytes, sha256, json } }),
    ms: Math.round(ms),
    ...(error === undefined ? {} : { error: show(error, 80) }),
  };
}

/** A redirected download can have its password in the query: only the parameters of lists stay. */
function openUrl(text: string, kind: HttpCall['kind']): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return show(text.split('?')[0] ?? '', 500);
  const query = [...url.searchParams].map(([key, value]) =>
    kind === 'platform' && OPEN_QUERY.test(key) ? `${key}=${value}` : `${key}=${SECRET}`,
  );
  return show(`${url.origin}${url.pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`, 2_000);
}

function requestHeaders(headers: HttpCall['headers']): Record<string, string> {
  const open = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    open.map(([key, value]) => {
      const header = key.toLowerCase();
      return [show(header, 60), REQUEST_HEADERS.has(header) ? show(String(value), 200) : SECRET];
    }),
  );
}

function answeredHeaders(headers: HttpCall['headers']): Record<string, string> {
  const known = ANSWER_HEADERS.flatMap((key) => {
    const value = headers[key];
    return value === undefined ? [] : [[key, show(String(value), 200)]];
  });
  const cookies = headers['set-cookie'] === undefined ? [] : [['set-cookie', SECRET]];
  return Object.fromEntries([...known, ...cookies]);
}

/** For a larger answer, only the size and the hash are written. */
const ANSWER_LIMIT = 16 * 1024;
const TEXT_LIMIT = 2_000;
const DEEPEST = 12;
/** Names of fields that hold a secret, in any API. */
const SECRET_FIELD = /(?:key|passw(?:or)?d|passphrase|secret|token|credentials?|cookie|authorization)$/iu;
/** The public fields of the platform's JSON; everything else is left out. */
const PLATFORM_FIELDS = new Set(
  `guid name type state status label code title detail description created_at updated_at last_operation
   relationships data service_instance app space resources errors pagination total_results total_pages result operation
   droplet process instances strategy lifecycle current_droplet package build event actor target metadata
   labels lifeboat.run`.split(/\s+/u),
);
/** Answers that consist of secrets, or whose fields are named by others. */
const NEVER = /\/(?:details|parameters|credentials|env|environment_variables|permissions)(?:[/?]|$)/u;

/** A printable request body: known secrets by name, and no values of secret fields. */
function blankBody(body: string, kind: HttpCall['kind'], blanks: Blanks): unknown {
  const json = jsonIn(body);
  return json === undefined ? SECRET : blanked(json, kind, blanks);
}

/** The recorded part of an answer. A body with secrets is not hashed: short secrets could be guessed. */
function keptAnswer(
  { kind, url, answer, bytes, sha256 }: HttpCall,
  blanks: Blanks,
): { readonly sha256?: string; readonly json?: unknown } {
  if (kind === 'platform' && NEVER.test(url)) return {};
  const json = answer === undefined || bytes > ANSWER_LIMIT ? undefined : jsonIn(answer);
  if (json === undefined) return { sha256 };
  const shown = blanked(json, kind, blanks);
  if (kind === 'platform') return { sha256, json: shown };
  return JSON.stringify(shown) === JSON.stringify(json) ? { sha256, json } : { json: shown };
}

/** For the platform's objects only known fields are included, because its answers cannot be foreseen. */
function blanked(value: unknown, kind: HttpCall['kind'], blanks: Blanks, depth = 0): unknown {
  if (depth > DEEPEST) return '[deep]';
  if (typeof value === 'string') return blankedText(value, blanks);
  const inner = (one: unknown) => blanked(one, kind, blanks, depth + 1);
  if (Array.isArray(value)) return value.map((item) => inner(item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  if (kind === 'platform') {
    const open = fields.filter(([key]) => PLATFORM_FIELDS.has(key));
    const shown = open.map(([key, one]) => [key, inner(one)]);
    const hidden = fields.length - open.length;
    return Object.fromEntries(hidden === 0 ? shown : [...shown, ['fields left out', hidden]]);
  }
  return Object.fromEntries(
    fields.map(([key, one]) => {
      const isSecret = SECRET_FIELD.test(key) && typeof one === 'string';
      return [blankedText(key, blanks), isSecret ? secretText(one, blanks) : inner(one)];
    }),
  );
}

function secretText(text: string, { known, name }: Blanks): string {
  if (text === '') return '';
  return known.includes(text) ? name(text) : SECRET;
}

function blankedText(text: string, { known, name }: Blanks): string {
  const open = known.reduce((rest, secret) => rest.replaceAll(secret, name(secret)), text);
  return show(open, TEXT_LIMIT);
}
