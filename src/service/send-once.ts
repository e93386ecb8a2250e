import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import { type CallOptions, jsonHeaders } from './call.ts';
import { authorise, listen, type Tap } from './interceptors.ts';
import type { Limits } from './limits.ts';
import type { Network } from './network.ts';
import { oneConnection } from './one-connection.ts';
import { orAbort } from './reader.ts';

/** What became of a request that may be sent once. */
export type SentOnce<T> =
  | { readonly read: T }
  /** Why it must not leave: not a byte of it was sent. */
  | { readonly refused: unknown }
  /** It broke. `unmade`: there never was a connection, so that nothing was sent. */
  | { readonly broke: unknown; readonly unmade: boolean };

interface Way {
  readonly network: Network;
  readonly origin: string;
  readonly tap: Tap | undefined;
  /** Asked before, and again at the last instant; what it throws is why the request is not sent. */
  readonly mayLeave: () => void;
}

/**
 * Sends one request at most, on a connection of its own that is gone afterwards, and reads its answer. Never
 * rejects: whatever happens, it says whether something may have been sent.
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
    // Nobody waits for it, and however it goes, the outcome stands.
    dispatcher.destroy().catch(() => undefined);
  }
}

interface Asked {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  /** JSON; none where it is undefined. */
  readonly body: string | undefined;
  readonly token: Secret;
  /** What is secret in the body. */
  readonly secrets: readonly Secret[] | undefined;
  readonly signal: AbortSignal;
}

/** The request as undici takes it. */
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
    // `Connection: close`: the service need not wait for a second request on this connection either.
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
