import { printableJson, show } from '../../base/text.ts';
import { type Blanks, blankBody, keptAnswer } from './blank.ts';
import type { HttpCall, ToolCall, TranscribedCall } from './call.ts';

const SECRET = '[secret]';

/** Headers whose values are nobody's secret; of all others only the name is written. */
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
/** What the platform's lists are asked by. */
const OPEN_QUERY =
  /^(?:\w+_guids?|guids|names|include|order_by|page|per_page|types?|states|label_selector|created_ats)(?:\[\w+\])?$/u;

/**
 * One line of the transcript, without its line feed: printable JSON.
 */
export function transcriptLine(no: number, call: TranscribedCall, blanks: Blanks): string {
  return printableJson({ no, ...(call.kind === 'tool' ? toolFields(call) : httpFields(call, blanks)) });
}

/** The line for a call whose own line would have held a secret all the same. */
export function withheldLine(no: number, call: TranscribedCall): string {
  const what =
    call.kind === 'tool' ? { to: 'platform' } : { to: call.to, method: call.method, status: call.status };
  return printableJson({
    no,
    at: call.at.toISOString(),
    ...what,
    ms: Math.round(call.ms),
    withheld: 'the rest of this line would have shown a secret',
  });
}

function toolFields({ at, argv, exit, bytes, ms }: ToolCall) {
  return {
    at: at.toISOString(),
    to: 'platform',
    argv: argv.map((word) => show(word, 300)),
    exit,
    answer: { bytes },
    ms: Math.round(ms),
  };
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

/**
 * The query of a redirected download can be its password, so only what the platform's lists are asked by
 * stays.
 */
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
