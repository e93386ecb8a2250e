import type { Entry } from './journal.ts';

type Listener = (entries: readonly Entry[]) => void;

/**
 * Tells listeners about appended entries, each append to all listeners before the next one: also when a listener appends.
 * A listener that throws becomes a process warning; the entries are on disk and the other listeners still hear of them.
 */
export function createDelivery() {
  const listeners = new Set<Listener>();
  const waiting: (readonly Entry[])[] = [];
  let delivering = false;
  return {
    subscribe(listener: Listener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send(entries: readonly Entry[]): void {
      waiting.push(entries);
      if (delivering) return;
      delivering = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        for (const listener of listeners) tell(listener, next);
      }
      delivering = false;
    },
  };
}

function tell(listener: Listener, entries: readonly Entry[]): void {
  try {
    listener(entries);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
