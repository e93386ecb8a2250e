import { show } from '../base/text.ts';

/** Requested, and not arrived yet. */
export interface Awaited {
  /** A printable sentence without a time and a full stop. */
  readonly what: string;
  /** By this machine's clock. */
  readonly sinceMs: number;
  /** Includes every repetition. */
  readonly untilMs: number;
}

/** Called for each request; the returned function is called once, when it was answered or given up. */
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

/** `dashboard.example.com has not answered GET /v1/instances/…/backups`. */
export function unanswered(method: string, url: URL): string {
  const path = url.pathname.replace(/^(.*\/(?:service-)?instances\/)[^/]+/u, '$1…');
  return `${show(url.host, 60)} has not answered ${method} ${show(path, 80)}`;
}

/** Before any request. */
export const NO_TOKEN_YET = 'the source of the access token has not given one';
