import { show } from '../base/text.ts';

/** A request, or a token, that was requested and has not arrived yet. */
export interface Awaited {
  /** Who has not answered what, as a printable sentence without a time and a full stop. */
  readonly what: string;
  /** By this machine's clock. */
  readonly sinceMs: number;
  /** The latest moment until which it is awaited, including every repetition. */
  readonly untilMs: number;
}

/**
 * Told of each request when it is made; the returned function is called once, when it was answered or given
 * up.
 */
export type Awaits = (awaited: Awaited) => () => void;

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

/** For a request: `dashboard.example.com has not answered GET /v1/instances/…/backups`. */
export function unanswered(method: string, url: URL): string {
  const path = url.pathname.replace(/^(.*\/(?:service-)?instances\/)[^/]+/u, '$1…');
  return `${show(url.host, 60)} has not answered ${method} ${show(path, 80)}`;
}

/** For a token, before any request. */
export const NO_TOKEN_YET = 'the source of the access token has not given one';
