/** An answer that the service did not send, or not in this form. */
export interface StrangeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The text for a status, in words that the service or a router uses. */
export function saying(status: number): { readonly word: string; readonly description: string } {
  const [, word, description] = wordsOf(status);
  return { word, description };
}

/** A router's text in place of the right answer. */
export function strangeReply(
  status: number,
  look: 'html' | 'empty',
  headers: StrangeReply['headers'] = {},
): StrangeReply {
  const [phrase, , description] = wordsOf(status);
  const text =
    look === 'html' ? `<html><body><h1>${status} ${phrase}</h1>${description}</body></html>\n` : '';
  return { status, headers: { 'content-type': TYPES[look], ...headers }, text };
}

/** A platform router's text if nothing is behind the address. */
export function routerWithoutBackend(): StrangeReply {
  return strangeReply(502, 'html', { 'x-cf-routererror': 'endpoint_failure' });
}

/** Sends the caller elsewhere: the same path and query at another origin. */
export function redirectReply(status: number, to: string, path: string): StrangeReply {
  const { pathname, search } = new URL(path, to);
  const location = new URL(`${pathname}${search}`, to).href;
  return { status, headers: { location, 'content-type': TYPES.empty }, text: '' };
}

/** Claims to be JSON and is not. */
export function textReply(status: number): StrangeReply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    text: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
  };
}

const TYPES = { html: 'text/html', empty: 'text/plain' } as const;

type Words = readonly [phrase: string, word: string, description: string];

const UPSTREAM: Words = ['Bad Gateway', 'upstreamError', 'error in upstream communication'];
const REFUSED: Words = ['Refused', 'requestRefused', 'the request was refused'];

/** Section 7, plus what routers add. */
const WORDS: Readonly<Record<number, Words>> = {
  401: ['Unauthorized', 'unauthorized', 'no valid authentication credentials'],
  403: ['Forbidden', 'forbidden', 'the credentials lack the right to perform this request'],
  404: ['Not Found', 'notFound', 'the requested route does not exist'],
  409: ['Conflict', 'alreadyInProgress', 'the same action is already in progress'],
  429: ['Too Many Requests', 'tooManyRequests', 'too many requests'],
  500: ['Internal Server Error', 'upstreamError', 'unexpected error while handling the request'],
  503: ['Service Unavailable', 'upstreamError', 'the service is not available'],
  504: ['Gateway Timeout', 'upstreamError', 'timeout in upstream communication'],
};

function wordsOf(status: number): Words {
  return WORDS[status] ?? (status < 500 ? REFUSED : UPSTREAM);
}

/** Ways to spoil the content of a JSON answer so that it is still JSON. */
type Spoil = 'strings' | 'objects' | 'nulls' | 'enums';

/** Endpoints with a field of a closed set of words (section 3); parameters without their names. */
const WITH_WORDS: ReadonlySet<string> = new Set([
  'GET /',
  'GET /backups',
  'GET /backups/:',
  'GET /restores',
  'GET /restores/:',
  'GET /backups-config',
  'POST /pitr/restore',
]);

/**
 * The same answer with something wrong inside:
 * - `strings`: every number is a text; an answer without numbers is a text as a whole.
 * - `objects`: every list is an object with the indexes as names; an answer without lists is a list of
 *   itself.
 * - `nulls`: every value below the outermost list or object is null; anything else is null as a whole.
 * - `enums`: status, state and backup type are words that the document does not have; a list without any gets
 *   an element with one. The result always differs from the answer.
 */
export function spoil(json: unknown, how: Spoil): unknown {
  if (how === 'nulls') return withNulls(json);
  const spoiled = deeply(json, how);
  if (JSON.stringify(spoiled) !== JSON.stringify(json)) return spoiled;
  if (how === 'strings') return JSON.stringify(json);
  if (how === 'objects') return [json];
  return Array.isArray(json)
    ? [...json, { status: UNKNOWN_WORD }]
    : { ...Object(json), status: UNKNOWN_WORD };
}

/** Whether an endpoint's answer has a field that `enums` can spoil. */
export function hasWords(method: string, path: string): boolean {
  return WITH_WORDS.has(`${method} ${path.replace(/:\w+/gu, ':')}`);
}

const UNKNOWN_WORD = 'hibernating';
const WORD_FIELDS: ReadonlySet<string> = new Set(['status', 'state', 'backup_type']);

function deeply(value: unknown, how: Spoil): unknown {
  if (how === 'strings' && typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    how === 'enums' && WORD_FIELDS.has(name) && typeof inner === 'string' ? UNKNOWN_WORD : deeply(inner, how),
  ]);
  if (!Array.isArray(value) || how === 'objects') return Object.fromEntries(entries);
  return entries.map(([, inner]) => inner);
}

function withNulls(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) return value.map((inner) => nullFields(inner));
  return nullFields(value);
}

function nullFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.keys(value).map((name) => [name, null]));
}
