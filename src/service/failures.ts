import { EXIT, LifeboatError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { redact } from '../base/redact.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { blamedProxy } from './proxies.ts';
import { askedForUncheckedTls, UNCHECKED_TLS } from './tls.ts';

const STILL_THE_SAME = 'nothing was changed: it is safe to try again';

const SLOW = 'the service is silent, or slow: try again when it is less busy';

/** No complete answer, by the error codes of Node and undici. */
const TRANSPORT: readonly (readonly [RegExp, code: string, words: string])[] = [
  [/^E(?:NOTFOUND|AI_AGAIN)$|^EAI_/u, 'service.unreachable', 'the name of the service cannot be resolved'],
  [/^ECONNREFUSED$/u, 'service.unreachable', 'the service refuses the connection'],
  [
    /^(?:ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/u,
    'service.unreachable',
    'the service cannot be reached',
  ],
  [
    /CERT|^ERR_TLS|^ERR_SSL|^EPROTO$|UNABLE_TO_|SELF_SIGNED|^UND_ERR_PRX_TLS$/u,
    'service.unreachable',
    'no trusted TLS connection to the service',
  ],
  [
    /^UND_ERR_(?:PRX_CONN|ABORTED|INVALID_ARG)$/u,
    'service.unreachable',
    'the proxy does not let the request through',
  ],
  [
    /^HPE_UNEXPECTED_CONTENT_LENGTH$/u,
    'service.bad-answer',
    'the answer says its length twice, as a proxy does that adds a Content-Length of its own',
  ],
  [/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/u, 'service.timeout', 'the service did not answer in time'],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_INVALID_EOF_STATE)$/u,
    'service.reset',
    'the connection broke before the answer was complete',
  ],
  [
    /^UND_ERR_(?:RES_EXCEEDED_MAX_SIZE|HEADERS_OVERFLOW)$|^HPE_HEADER_OVERFLOW$/u,
    'service.too-large',
    'the answer is larger than any answer of the service',
  ],
  [
    /^HPE_|^HTTPParserError$|CONTENT_LENGTH|UND_ERR_REQ_RETRY/u,
    'service.bad-answer',
    'the answer is not valid HTTP',
  ],
];

/**
 * `peer` was asked. Only the original's code and redacted message are kept, as evidence: an undici error can
 * hold headers and raw bytes.
 */
export function transportError(
  thrown: unknown,
  secrets: Iterable<Secret>,
  peer = 'the service',
): LifeboatError {
  if (thrown instanceof LifeboatError) return thrown;
  const code = errorCode(thrown);
  const [, word, words] = TRANSPORT.find(([pattern]) => pattern.test(code)) ?? [
    undefined,
    'service.reset',
    'the request failed on its way',
  ];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const proxy = word === 'service.unreachable' ? proxyBehind(thrown, words) : undefined;
  const detail = proxy === undefined ? show(code, 60) : (proxy.answered ?? show(code, 60));
  return new LifeboatError(word, `${proxy?.words ?? words.replace('the service', peer)} (${detail})`, {
    hints:
      word === 'service.unreachable'
        ? (proxy?.hints ?? unreachableHints(words, code))
        : word === 'service.timeout'
          ? [SLOW, STILL_THE_SAME]
          : [STILL_THE_SAME],
    evidence: { reason: show(redact(message, secrets)), transport: show(code, 60) },
  });
}

/** Undefined without a proxy, and for TLS errors. */
function proxyBehind(thrown: unknown, words: string) {
  const proxy = blamedProxy(thrown);
  if (proxy === undefined || words.includes('TLS')) return undefined;
  const [, status] = /^Proxy response \((\d{3})\)/u.exec(thrown instanceof Error ? thrown.message : '') ?? [];
  const name = `the proxy ${show(proxy.shown, 200)}`;
  return {
    words: words.replace(/the service|the proxy/u, name),
    answered: status === undefined ? undefined : `it answers ${status}`,
    hints: [
      `${proxy.variable} names it; a host in NO_PROXY is reached without it`,
      ...(status === '407'
        ? [`it wants a user: set ${proxy.variable} to http://USER:PASSWORD@HOST:PORT`]
        : []),
      STILL_THE_SAME,
    ],
  };
}

/** Of a Node or undici error, or the error's name. */
export function errorCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown';
  const { code } = thrown as { code?: unknown };
  // undici gives the parser's reason only in its message.
  if (code === undefined && /\(Invalid EOF state\)/u.test(thrown.message)) return 'HPE_INVALID_EOF_STATE';
  return typeof code === 'string' && code !== '' ? code : thrown.name;
}

/** The caller's own signal ended the call. */
export function stoppedError(): LifeboatError {
  return new LifeboatError('service.stopped', 'the call was stopped before it had an answer', {
    hints: ['resume when you are ready: what may have been sent is looked up first'],
    exitCode: EXIT.interrupted,
  });
}

export function timeoutError(ms: number): LifeboatError {
  return new LifeboatError('service.timeout', `the service did not answer within ${ms / 1000} s`, {
    hints: [STILL_THE_SAME],
    evidence: { timeoutMs: ms },
  });
}

export function tooLargeError(limit: number): LifeboatError {
  return new LifeboatError('service.too-large', `the answer is larger than ${formatBytes(limit)}`, {
    hints: ['no answer of the service is that large: check that the url leads to it'],
    evidence: { limitBytes: limit },
  });
}

export function badAnswerError(what: string, evidence: LifeboatError['evidence'] = {}): LifeboatError {
  return new LifeboatError('service.bad-answer', what, {
    hints: ['check that the url leads to the service and not to a login page or a proxy', STILL_THE_SAME],
    evidence,
  });
}

export function redirectError(what: string): LifeboatError {
  return new LifeboatError('service.redirect', `the service redirects ${what}`, {
    hints: [
      'the token was sent to no other origin',
      'check the url of the instance: use the address after the redirect',
    ],
  });
}

/** By cause (the codes of Node's tls and of OpenSSL). */
const TLS_HINTS: readonly (readonly [RegExp, hints: readonly string[]])[] = [
  [
    /^CERT_HAS_EXPIRED$/u,
    ['the certificate has expired: the operator of the service has to renew it', 'check the clock here'],
  ],
  [/^CERT_NOT_YET_VALID$/u, ['the certificate is not valid yet: check the clock here']],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$|HOSTNAME_MISMATCH$/u,
    ['the certificate is for another host: check the host name in the url', 'a proxy in between may answer'],
  ],
  [
    /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE|VERSION_TOO_LOW/u,
    ['the service, or a proxy in between, has to offer TLS 1.2 or newer'],
  ],
  [/WRONG_VERSION_NUMBER/u, ['what answers speaks no TLS: check scheme and port of the url']],
  [/^CERT_REVOKED$/u, ['the certificate was revoked: tell the operator of the service']],
  [
    /SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY_LEAF|ISSUER_CERT|CERT_UNTRUSTED|INVALID_CA/u,
    ['the authority is not known here: set `ca` to the certificate file of your company'],
  ],
];

const TLS_UNKNOWN = ['check the host name in the url', 'set `ca` to the certificate file of your company'];

function unreachableHints(words: string, code: string): string[] {
  if (words.includes('TLS')) {
    return [
      ...(askedForUncheckedTls ? [`${UNCHECKED_TLS}=0 is not obeyed: certificates are always checked`] : []),
      ...(TLS_HINTS.find(([pattern]) => pattern.test(code))?.[1] ?? TLS_UNKNOWN),
    ];
  }
  return ['check the network, the VPN and the url of the instance', STILL_THE_SAME];
}
