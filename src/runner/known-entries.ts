import type { Entry } from '../store/journal.ts';
import { foldIntent, type IntentMemory, isUnsettled } from './intents.ts';

/** The entries of one stream, with what is folded from them as they come: a step must not cost more the longer a run is. */
export class KnownEntries {
  readonly all: Entry[] = [];
  readonly #intents = new Map<string, IntentMemory>();

  constructor(entries: readonly Entry[] = []) {
    this.add(entries);
  }

  get intents(): ReadonlyMap<string, IntentMemory> {
    return this.#intents;
  }

  /** The intents of calls that may have been sent, and of which it is not known what became. */
  get unsettled(): readonly string[] {
    return [...this.#intents].flatMap(([intent, memory]) => (isUnsettled(memory) ? [intent] : []));
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.all.push(entry);
      foldIntent(this.#intents, entry);
    }
  }
}
