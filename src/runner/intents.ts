import type { Failure } from '../../machines/parts/failure.ts';
import type { Entry, Json } from '../journal/journal.ts';

/** What the journal knows of one intent: a single send of a call that must not happen twice. */
export interface IntentMemory {
  readonly baseline: Json;
  /** Set as soon as a byte may have left. An armed intent is never sent again unless it is proven absent. */
  readonly armedAt?: string;
  readonly landed?: Json;
  readonly absent?: Failure | true;
  /** Why the outcome of the send is not known, when the process lived to write it down. */
  readonly lost?: Failure;
}

/**
 * Intents by id, as the journal tells them. A send that the service refused for its credentials was provably not carried out,
 * so that intent counts as not armed and may be prepared again.
 */
export function foldIntents(entries: readonly Entry[]): ReadonlyMap<string, IntentMemory> {
  const intents = new Map<string, IntentMemory>();
  for (const entry of entries) {
    const body = entry.body as { readonly [key: string]: Json };
    const id = typeof body === 'object' && body !== null ? body['intent'] : undefined;
    if (typeof id !== 'string') continue;
    const known = intents.get(id);
    if (entry.type === 'intent.prepared') intents.set(id, { baseline: body['baseline'] ?? null });
    else if (known === undefined) continue;
    else if (entry.type === 'intent.armed') intents.set(id, { ...known, armedAt: entry.at });
    else if (entry.type === 'intent.outcome' || entry.type === 'intent.judged')
      intents.set(id, settle(known, body));
  }
  return intents;
}

function settle(known: IntentMemory, body: { readonly [key: string]: Json }): IntentMemory {
  const word = body['sent'] ?? body['verdict'];
  if (word === 'landed') return { ...known, landed: body['output'] ?? null };
  const failure = body['failure'] as unknown as Failure | undefined;
  if (word === 'unknown' && failure !== undefined) return { ...known, lost: failure };
  if (word !== 'absent') return known;
  if (failure?.code.startsWith('credentials.')) return { baseline: known.baseline };
  return { ...known, absent: failure ?? true };
}
