import type { Failure } from '../../machines/parts/failure.ts';
import type { Entry, Json } from '../journal/journal.ts';

/** What the journal knows of one intent: a single send of a call that must not happen twice. */
export interface IntentMemory {
  readonly baseline: Json;
  /** The verb that is performed, where the entry tells it. */
  readonly verb?: string;
  /** Set as soon as a byte may have left. An armed intent is never sent again unless it is proven absent. */
  readonly armedAt?: string;
  readonly landed?: Json;
  /** By what it was told that it landed, where its answer was lost. */
  readonly evidence?: Json;
  readonly absent?: Failure | true;
  /** Why the outcome of the send is not known, when the process lived to write it down. */
  readonly lost?: Failure;
  /** What the service showed at the last look that told nothing certain: the candidates are in its evidence. */
  readonly unclear?: Failure;
  /** From when on nobody was sending it any more, at the latest: a lost request may arrive for a while after that. RFC 3339. */
  readonly lostAt?: string;
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
    if (entry.type === 'activity.begun') takenUp(intents, String(body['key']), entry.at);
    if (typeof id !== 'string') continue;
    const known = intents.get(id);
    if (entry.type === 'intent.prepared')
      intents.set(id, { baseline: body['baseline'] ?? null, ...verbOf(body) });
    else if (known === undefined) continue;
    else if (entry.type === 'intent.armed') intents.set(id, { ...known, armedAt: armedAt(entry, body) });
    else if (entry.type === 'intent.outcome' || entry.type === 'intent.judged')
      intents.set(id, settle(known, body, entry.at));
  }
  return intents;
}

/** The process that armed it died before it wrote an outcome down, some time before this one. */
function takenUp(intents: Map<string, IntentMemory>, id: string, at: string): void {
  const known = intents.get(id);
  if (known?.armedAt === undefined || known.lostAt !== undefined) return;
  intents.set(id, { ...known, lostAt: at });
}

function settle(known: IntentMemory, body: { readonly [key: string]: Json }, at: string): IntentMemory {
  const word = body['sent'] ?? body['verdict'];
  const { evidence } = body;
  if (word === 'landed')
    return { ...known, landed: body['output'] ?? null, ...(evidence === undefined ? {} : { evidence }) };
  const failure = body['failure'] as unknown as Failure | undefined;
  // A call that a run has handed on tells when that had lost it.
  const lostAt = typeof body['lostAt'] === 'string' ? body['lostAt'] : at;
  if (word === 'unknown' && failure !== undefined) return { ...known, lost: failure, lostAt };
  if (word === 'ambiguous' && failure !== undefined) return { ...known, unclear: failure };
  if (word !== 'absent') return known;
  if (failure?.code.startsWith('credentials.'))
    return { baseline: known.baseline, ...verbOf({ verb: known.verb ?? null }) };
  return { ...known, absent: failure ?? true };
}

/** When the entry was written; of a call that a run has handed on, when the run had armed it. */
function armedAt({ at }: Entry, { armedAt: told }: { readonly [key: string]: Json }): string {
  return typeof told === 'string' ? told : at;
}

function verbOf({ verb }: { readonly [key: string]: Json }): { readonly verb?: string } {
  return typeof verb === 'string' ? { verb } : {};
}
