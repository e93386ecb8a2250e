import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import { type CallOptions, jsonHeaders } from './call.ts';
import { authorise, listen, type Tap } from './interceptors.ts';
import type { Limits } from './limits.ts';
import type { Network } from './network.ts';
import { oneConnection } from './one-connection.ts';
import { orAbort } from './reader.ts';

/** The result of a request that may be sent once. */
export type SentOnce<T> =
  | { readonly read: T }
  /** Why it must not be sent: not a byte of it was. */
  | { readonly refused: unknown }
  /** It broke. `unmade`: there never was a connection, so nothing was sent. */
  | { readonly broke: unknown; readonly unmade: boolean };

interface Way {
  readonly network: Network;
  readonly origin: string;
  readonly tap: Tap | undefined;
  /** Called before, and again at the last instant; what it throws is why the request is not sent. */
  readonly mayLeave: () => void;
}

/**
 * Sends at most one request, on its own connection that is closed afterwards, and reads its answer. Never
 * rejects: it always reports whether something may have been sent.
 */
export async function sendOnce<T>(
  { network, origin, tap, mayLeave }: Way,
  options: CallOptions & { readonly signal: AbortSignal },
  read: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<SentOnce<T>> {
  const gate = oneConnection(mayLeave);
  let dispatcher: Dispatcher;
  try {
    mayLeave();
    dispatcher = network.openForOneSend(gate);
  } catch (refused) {
    return { refused };
  }
  try {
    const composed = dispatcher.compose(authorise(origin), listen(tap));
    return { read: await read(await orAbort(composed.request(options), options.signal)) };
  } catch (broke) {
    gate.seal();
    const refusal = gate.refusal();
    if (refusal !== undefined) return { refused: refusal.why };
    return { broke, unmade: gate.neverHandedOut() };
  } finally {
    gate.seal();
    // Nothing waits for this, and it cannot change the outcome.
    dispatcher.destroy().catch(() => undefined);
  }
}

interface Asked {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  /** JSON; undefined for no body. */
  readonly body: string | undefined;
  readonly token: Secret;
  readonly secrets: readonly Secret[] | undefined;
  readonly signal: AbortSignal;
}

/** The request in undici's form. */
export function optionsOnce(
  { url, method, body, token, secrets, signal }: Asked,
  limits: Limits,
): CallOptions & { readonly signal: AbortSignal } {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: jsonHeaders(body !== undefined),
    ...(body === undefined ? {} : { body }),
    // `Connection: close`: tells the service not to wait for a second request on this connection.
    reset: true,
    // The deadline counts, not the silence: the router may hold the answer back for 15 minutes.
    headersTimeout: 0,
    bodyTimeout: limits.bodyMs,
    answer: 'stream',
    token,
    secrets,
    signal,
  };
}
