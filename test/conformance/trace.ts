import type { Exchange } from './exchange.ts';

/** What is watched over a whole run: that no answer carries a secret. */
export interface Trace {
  /** Nothing that is printed may contain one of them. */
  readonly secrets: readonly string[];
  /** Calls whose answer carried a watched secret. */
  readonly leaks: readonly string[];
  /** Keeps a text out of all that is printed. */
  hide(secret: string): void;
  /** Hides it, and looks for it in every answer from now on. */
  expectSilence(secret: string): void;
  readonly watch: (exchange: Exchange, headers: string) => void;
}

export function makeTrace(): Trace {
  const secrets: string[] = [];
  const watched: string[] = [];
  const leaks: string[] = [];
  const hide = (secret: string) => {
    if (secret !== '' && !secrets.includes(secret)) secrets.push(secret);
    // The longest first, so that none is left in pieces by another one within it.
    secrets.sort((one, other) => other.length - one.length);
  };
  return {
    secrets,
    leaks,
    hide,
    expectSilence: (secret) => {
      hide(secret);
      watched.push(secret);
    },
    watch: (exchange, headers) => {
      if (watched.some((secret) => exchange.text.includes(secret) || headers.includes(secret))) {
        leaks.push(`${exchange.method} ${exchange.path}`);
      }
    },
  };
}
