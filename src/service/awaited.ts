import { show } from '../base/text.ts';

/** A request, or a token, that has been asked for and is not there yet. */
export interface Awaited {
  /** Who has not answered what, as a sentence without a time and without a stop. Printable. */
  readonly what: string;
  /** By this machine's clock. */
  readonly sinceMs: number;
  /** Until when it is waited for, at most: every repetition included. */
  readonly untilMs: number;
}

/** Told of each request as it is made; what it gives is called once, when it was answered or given up. */
export type Awaits = (awaited: Awaited) => () => void;

/** Tells `awaits` of a request for as long as its answer is waited for. */
export async function whileAwaited<T>(
  awaits: Awaits | undefined,
  awaited: Awaited,
  wait: () => Promise<T>,
): Promise<T> {
  const over = awaits?.(awaited);
  try {
    return await wait();
  } finally {
    over?.();
  }
}

/** Of a request: `dashboard.example.com has not answered GET /v1/instances/…/backups`. */
export function unanswered(method: string, url: URL): string {
  const path = url.pathname.replace(/^(.*\/(?:service-)?instances\/)[^/]+/u, '$1…');
  return `${show(url.host, 60)} has not answered ${method} ${show(path, 80)}`;
}

/** Of a token, before any request. */
export const NO_TOKEN_YET = 'the source of the access token has not given one';
