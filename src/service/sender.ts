import type { Dispatcher } from 'undici';
import { LifeboatError, type LifeboatErrorOptions } from '../errors.ts';
import { redact } from '../redact.ts';
import { Secret } from '../secret.ts';
import type { CallOptions, Exchange } from './call.ts';
import type { SendOutcome } from './client.ts';
import { badAnswerError, stoppedError, timeoutError, transportError } from './failures.ts';
import { authorise, observe } from './interceptors.ts';
import type { Limits } from './limits.ts';
import type { Network } from './network.ts';
import { type OneConnection, oneConnection } from './one-connection.ts';
import { parseJson, problemError, readProblem } from './problem.ts';
import { dateOf, looksLikeHtml, orAbort } from './reader.ts';
import type { TokenCache } from './token-cache.ts';

/** A JSON object; a Secret in it becomes text only while it is serialised. */
export type SendBody = Readonly<Record<string, string | number | boolean | Secret | undefined>>;

export interface SendCall<T> {
  readonly method: 'POST' | 'PATCH';
  readonly url: string;
  readonly body?: SendBody;
  /** Picks what is known out of a success body; gets `undefined` when there is nothing to read. `clean` blanks echoed secrets. */
  readonly read: (json: unknown, clean: (text: string) => string) => T;
  readonly signal?: AbortSignal | undefined;
}

export interface Sender {
  /** Sends at most once, on a connection of its own, and never rejects for what happens on the wire. */
  send<T>(call: SendCall<T>): Promise<SendOutcome<T>>;
}

const ACCEPTED: readonly number[] = [200, 201, 202, 204];
const REFUSED: readonly number[] = [400, 401, 403, 404, 412, 422, 429];

/** Decided before a request is looked into, whoever answers (RFC 9110 sections 15.5.2 and 15.5.6, RFC 6585 section 4): they need no words. */
const REFUSED_UNREAD: readonly number[] = [401, 405, 407, 429];

/** Makes the changing side: HTTP/1.1, no retry, no redirect, one deadline over everything, one connection per call. */
export function openSender(
  network: Network,
  origin: string,
  tokens: TokenCache,
  limits: Limits,
  closing: AbortSignal,
  onExchange: ((exchange: Exchange) => void) | undefined,
): Sender {
  async function send<T>(call: SendCall<T>): Promise<SendOutcome<T>> {
    const stop = AbortSignal.any(call.signal === undefined ? [closing] : [closing, call.signal]);
    if (stop.aborted) return neverSent(stoppedError());
    const gate = oneConnection();
    let token: Secret;
    let dispatcher: Dispatcher;
    try {
      // This call has one chance, so it does not spend it on a token that may have expired since the last one.
      token = (await orAbort(tokens.fresh(), stop)).value;
      dispatcher = network.openForOneSend(gate);
    } catch (error) {
      return neverSent(stop.aborted ? stoppedError() : error);
    }
    const secrets = [token, ...Object.values(call.body ?? {}).filter((value) => value instanceof Secret)];
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(timeoutError(limits.sendMs)), limits.sendMs);
    const signal = AbortSignal.any([stop, deadline.signal]);
    try {
      const composed = dispatcher.compose(authorise(origin), observe(onExchange));
      const response = await orAbort(composed.request(optionsOf(call, token, signal, limits)), signal);
      return await outcomeOf(call, response, secrets, limits);
    } catch (error) {
      gate.seal();
      return lost(gate, stop.aborted ? stoppedError() : transportError(error, secrets));
    } finally {
      clearTimeout(timer);
      gate.seal();
      // Nobody waits for it, and however it goes, the outcome stands.
      dispatcher.destroy().catch(() => undefined);
    }
  }

  return { send };
}

function optionsOf(call: SendCall<unknown>, token: Secret, signal: AbortSignal, limits: Limits): CallOptions {
  const url = new URL(call.url);
  return {
    origin: url.origin,
    path: url.pathname,
    method: call.method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lifeboat',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(call.body === undefined ? {} : { body: serialise(call.body) }),
    // `Connection: close`: the service need not wait for a second request on this connection either.
    reset: true,
    // The deadline counts, not the silence: the router may hold the answer back for 15 minutes.
    headersTimeout: 0,
    bodyTimeout: limits.bodyMs,
    answer: 'stream',
    token,
    signal,
  };
}

function serialise(body: SendBody): string {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
    ),
  );
}

/** What a status means for a call that must not be sent twice. */
async function outcomeOf<T>(
  call: SendCall<T>,
  response: Dispatcher.ResponseData,
  secrets: readonly Secret[],
  limits: Limits,
): Promise<SendOutcome<T>> {
  const { statusCode: status, headers } = response;
  const accepted = ACCEPTED.includes(status);
  const serverDate = dateOf(headers);
  const body = await readCapped(response.body, accepted ? limits.jsonBytes : limits.errorBytes);
  const page = body === undefined ? /html/iu.test(String(headers['content-type'])) : looksLikeHtml(body);
  if (accepted && !page) {
    const value = call.read(body === undefined ? undefined : parseJson(body), (text) =>
      redact(text, secrets),
    );
    return { outcome: 'accepted', value, status, serverDate };
  }
  if (accepted) {
    const error = badAnswerError('a web page came back instead of an answer', { status });
    return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate };
  }
  const problem = readProblem(status, body ?? Buffer.alloc(0), secrets);
  const error = problemError(problem, headers);
  // Any other refusal counts only in the service's own words: a proxy can put its 403 in place of an answer it did not like.
  if (REFUSED_UNREAD.includes(status) || (REFUSED.includes(status) && problem.fromService)) {
    return { outcome: 'refused', failure: error.toFailure(), serverDate };
  }
  return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate };
}

/** The body, or undefined when it breaks off or is larger than `cap`. The status stands without it. */
async function readCapped(body: Dispatcher.ResponseData['body'], cap: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += (chunk as Buffer).length;
      if (size > cap) return undefined;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function lost(gate: OneConnection, error: LifeboatError): SendOutcome<never> {
  if (gate.neverHandedOut()) return neverSent(error);
  return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate: undefined };
}

function neverSent(error: unknown): SendOutcome<never> {
  const known = transportError(error, []);
  const hints = [
    ...known.hints.filter((hint) => !hint.startsWith('nothing')),
    'nothing was sent: it is safe to try again',
  ];
  return {
    outcome: 'never-sent',
    failure: { ...known.toFailure(), hints },
    serverDate: undefined,
  };
}

/** The same error with the hint that fits a call that may have landed. */
function inDoubt(error: LifeboatError): LifeboatError {
  const options: LifeboatErrorOptions = {
    hints: ['the service may have done it: nothing is sent again before the service was asked'],
    evidence: error.evidence,
    exitCode: error.exitCode,
  };
  return new LifeboatError(error.code, error.shortMessage, options);
}
