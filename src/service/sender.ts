import type { Dispatcher } from 'undici';
import { Secret } from '../base/secret.ts';
import { type Awaits, unanswered, whileAwaited } from './awaited.ts';
import type { SendBody, SendCall } from './call.ts';
import type { SendOutcome } from './client.ts';
import type { CookieJar, ReadingSide } from './connection.ts';
import { stoppedError, timeoutError, transportError } from './failures.ts';
import type { Tap } from './interceptors.ts';
import { type Limits, pauseBeforeConnecting, waited } from './limits.ts';
import { orAbort } from './reader.ts';
import { optionsOnce, sendOnce } from './send-once.ts';
import { lost, neverSent, outcomeOf } from './send-outcome.ts';

export interface Sender {
  /**
   * Sends at most once, on its own connection, and never rejects for anything on the network. A failed
   * connection is retried for a few seconds, as for a read: until it exists nothing has been sent. A call
   * that `leave` refuses at the last instant is never sent.
   */
  send<T>(call: SendCall<T>): Promise<SendOutcome<T>>;
}

/** HTTP/1.1, no second send, no redirect, one deadline, one connection per call. */
export function openSender(
  { network, tokens, jar, closed: closing }: Omit<ReadingSide, 'reader'>,
  {
    origin,
    limits,
    tap,
    awaits,
  }: {
    readonly origin: string;
    readonly limits: Limits;
    readonly tap: Tap | undefined;
    readonly awaits?: Awaits | undefined;
  },
): Sender {
  async function send<T>(call: SendCall<T>): Promise<SendOutcome<T>> {
    const stop = AbortSignal.any(call.leave === undefined ? [closing] : [closing, call.leave.signal]);
    if (stop.aborted) return neverSent(stoppedError());
    const url = new URL(call.url);
    let token: Secret;
    let cookie: string | undefined;
    try {
      // This call has one chance, so do not waste it on a token that may have expired.
      token = (await orAbort(tokens.fresh(), stop)).value;
      cookie = call.session === true ? await jar.header(url) : undefined;
    } catch (error) {
      return neverSent(stop.aborted ? stoppedError() : error);
    }
    const inBody = Object.values(call.body ?? {}).filter((value) => value instanceof Secret);
    const secrets = [token, ...inBody];
    const deadline = new AbortController();
    const ms = call.repeatable === true ? Math.min(limits.repeatableSendMs, limits.sendMs) : limits.sendMs;
    const timer = setTimeout(() => deadline.abort(timeoutError(ms)), ms);
    const signal = AbortSignal.any([stop, deadline.signal]);
    const body = call.body === undefined ? undefined : serialise(call.body);
    const asked = { url, method: call.route.method, body, token, secrets: inBody, signal };
    const plain = optionsOnce(asked, limits);
    const options = cookie === undefined ? plain : { ...plain, headers: { ...plain.headers, cookie } };
    const way = { network, origin, tap, mayLeave: () => call.leave?.mayLeave() };
    const begunMs = Date.now();
    const asking = { what: unanswered(call.route.method, url), sinceMs: begunMs, untilMs: begunMs + ms };
    try {
      for (let attempts = 1; ; attempts += 1) {
        const sent = await whileAwaited(awaits, asking, () =>
          sendOnce(way, options, async (response) => {
            const outcome = await outcomeOf(call, response, secrets, limits);
            if (call.session === true) await keepCookies(jar, url, response);
            return outcome;
          }),
        );
        if ('read' in sent) return sent.read;
        if ('refused' in sent) return neverSent(sent.refused);
        if (!sent.unmade || stop.aborted)
          return lost(sent.unmade, stop.aborted ? stoppedError() : transportError(sent.broke, secrets));
        const pause = pauseBeforeConnecting(sent.broke, attempts, limits);
        if (pause === undefined || !(await waited(pause, signal)))
          return neverSent(stop.aborted ? stoppedError() : transportError(sent.broke, secrets));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return { send };
}

/** A failure to keep a cookie does not change how the call ended. */
async function keepCookies(jar: CookieJar, url: URL, response: Dispatcher.ResponseData): Promise<void> {
  await jar.keep(url, response.headers['set-cookie']).catch(() => undefined);
}

function serialise(body: SendBody): string {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
    ),
  );
}
