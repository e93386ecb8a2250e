/** How far the service's clock is from this machine's. */
export interface Skew {
  /** Milliseconds the service is ahead; negative when it is behind. The middle of what is possible. */
  readonly skewMs: number;
  /** The true value is no further than this from `skewMs`. */
  readonly uncertaintyMs: number;
}

/**
 * Bounds the clock skew from one answer. The `Date` header (RFC 9110 section 6.6.1) is cut to whole seconds
 * and was written at some moment between sending and receiving, so the truth lies in `(date - received, date
 * + 1 s - sent]`.
 */
export function skewMs(serverDate: Date, sentAt: Date, receivedAt: Date): Skew {
  const least = serverDate.getTime() - receivedAt.getTime();
  const most = serverDate.getTime() + 1000 - sentAt.getTime();
  return { skewMs: (least + most) / 2, uncertaintyMs: (most - least) / 2 };
}
