import type { Dispatcher } from 'undici';
import { Secret } from '../base/secret.ts';
import { type CallOptions, jsonHeaders, type SendBody, type SendCall } from './call.ts';
import type { SendOutcome } from './client.ts';
import type { ReadingSide } from './connection.ts';
import type { CookieJar } from './cookies.ts';
import { stoppedError, timeoutError, transportError } from './failures.ts';
import { authorise, listen, type Tap } from './interceptors.ts';
import { type Limits, pauseBeforeConnecting, waited } from './limits.ts';
import { oneConnection } from './one-connection.ts';
import { orAbort } from './reader.ts';
import { lost, neverSent, outcomeOf } from './send-outcome.ts';

export interface Sender {
  /**
   * Sends at most once, on a connection of its own, and never rejects for what happens on the wire. A
   * connection that cannot be made is tried again for a few seconds, as for a read: until it stands nothing
   * has been sent. What `leave` refuses at the last instant is never sent.
   */
  send<T>(call: SendCall<T>): Promise<SendOutcome<T>>;
}

/** The changing side: HTTP/1.1, no second send, no redirect, one deadline, one connection per call. */
export function openSender(
  { network, tokens, jar, closed: closing }: Omit<ReadingSide, 'reader'>,
  {
    origin,
    limits,
    tap,
  }: { readonly origin: string; readonly limits: Limits; readonly tap: Tap | undefined },
): Sender {
  async function send<T>(call: SendCall<T>): Promise<SendOutcome<T>> {
    const stop = AbortSignal.any(call.leave === undefined ? [closing] : [closing, call.leave.signal]);
    if (stop.aborted) return neverSent(stoppedError());
    const url = new URL(call.url);
    let token: Secret;
    let cookie: string | undefined;
    try {
      // This call has one chance, so it does not spend it on a token that may have expired since the last
      // one.
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
    const options = { ...optionsOf(call, { url, token, cookie, signal, limits }), secrets: inBody };
    try {
      for (let attempts = 1; ; attempts += 1) {
        const sent = await sendOnce(call, options, secrets, stop);
        if (!('unmade' in sent)) return sent;
        const pause = pauseBeforeConnecting(sent.unmade, attempts, limits);
        if (pause === undefined || !(await waited(pause, signal)))
          return neverSent(stop.aborted ? stoppedError() : transportError(sent.unmade, secrets));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** `unmade`: why there was no connection. Nothing else may be tried again. */
  async function sendOnce<T>(
    call: SendCall<T>,
    options: CallOptions,
    secrets: readonly Secret[],
    stop: AbortSignal,
  ): Promise<SendOutcome<T> | { readonly unmade: unknown }> {
    const mayLeave = () => call.leave?.mayLeave();
    const gate = oneConnection(mayLeave);
    let dispatcher: Dispatcher;
    try {
      mayLeave();
      dispatcher = network.openForOneSend(gate);
    } catch (error) {
      return neverSent(error);
    }
    try {
      const composed = dispatcher.compose(authorise(origin), listen(tap));
      const response = await orAbort(composed.request(options), options.signal as AbortSignal);
      const outcome = await outcomeOf(call, response, secrets, limits);
      if (call.session === true) await keepCookies(jar, new URL(call.url), response);
      return outcome;
    } catch (error) {
      gate.seal();
      const refusal = gate.refusal();
      if (refusal !== undefined) return neverSent(refusal.why);
      if (gate.neverHandedOut() && !stop.aborted) return { unmade: error };
      return lost(gate.neverHandedOut(), stop.aborted ? stoppedError() : transportError(error, secrets));
    } finally {
      gate.seal();
      // Nobody waits for it, and however it goes, the outcome stands.
      dispatcher.destroy().catch(() => undefined);
    }
  }

  return { send };
}

interface Attempt {
  readonly url: URL;
  readonly token: Secret;
  readonly cookie: string | undefined;
  readonly signal: AbortSignal;
  readonly limits: Limits;
}

function optionsOf(call: SendCall<unknown>, { url, token, cookie, signal, limits }: Attempt): CallOptions {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: call.route.method,
    headers: { ...jsonHeaders(call.body !== undefined), ...(cookie === undefined ? {} : { cookie }) },
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

/** A cookie that cannot be kept changes nothing about how the call ended. */
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
