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
