import type { Dispatcher } from 'undici';
import type { Secret } from '../secret.ts';

/** What the interceptors know about a request besides its bytes. */
export interface CallOptions extends Dispatcher.RequestOptions {
  /** Sent as `Authorization`, to the instance's own origin only. */
  readonly token?: Secret | undefined;
  /** `whole`: collected up to the cap, then handed over. `stream`: a success is handed over as it arrives. */
  readonly answer: 'whole' | 'stream';
}

/** One request on the wire, for transcripts. Holds no header, no body and no query. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** `undefined`: no answer. */
  readonly status: number | undefined;
  /** From handing the request to the network to the end of the answer. */
  readonly ms: number;
  /** The `X-Request-Id` or `X-Vcap-Request-Id` of the answer, cleaned. */
  readonly requestId?: string;
}
