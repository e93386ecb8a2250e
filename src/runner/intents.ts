import type { Failure } from '../../machines/parts/failure.ts';
import type { Entry, Json } from '../store/journal.ts';

/** What the journal knows of one intent: a single send of a call that must not happen twice. */
export interface IntentMemory {
  readonly baseline: Json;
  /** The verb that is performed, where the entry tells it. */
  readonly verb?: string;
  /**
   * Set as soon as a byte may have left. An armed intent is never sent again unless it was refused, and
   * nothing shows that it was done.
   */
  readonly armedAt?: string;
  /** When it was armed for the first time, where it was sent again after a refusal. */
  readonly firstArmedAt?: string;
  /**
   * The last answer, where it says that nothing was done. That is somebody's word: before anything is sent
   * again, the service is looked at.
   */
  readonly refused?: Failure;
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

/** Intents by id, as the journal tells them. */
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
    else if (entry.type === 'intent.armed') intents.set(id, armed(known, armedAt(entry, body)));
    else if (entry.type === 'intent.outcome' || entry.type === 'intent.judged')
      intents.set(id, settle(known, body, entry.at));
  }
  return intents;
}

/** Armed, perhaps once more: what was said of the send before is over, what was there before it stays. */
function armed({ baseline, verb, armedAt: before, firstArmedAt }: IntentMemory, at: string): IntentMemory {
  const first = firstArmedAt ?? before;
  return { baseline, ...verbOf({ verb: verb ?? null }), armedAt: at, ...(first && { firstArmedAt: first }) };
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
  const { absent: _, ...open } = known;
  if (word === 'unknown' && failure !== undefined)
    return { ...open, ...(body['refused'] === true && { refused: failure }), lost: failure, lostAt };
  if (word === 'ambiguous' && failure !== undefined) return { ...known, unclear: failure };
  if (word !== 'absent') return known;
  // Where it was sent before, that send was refused, and its answer is the one that counts.
  if (failure !== undefined && (body['refused'] === true || known.firstArmedAt !== undefined)) {
    const refused = { ...open, refused: failure, lostAt };
    return isCredentials(failure) ? refused : { ...refused, absent: failure };
  }
  // Without a refusal not a byte has left: it counts as not armed.
  if (isCredentials(failure)) return { baseline: known.baseline, ...verbOf({ verb: known.verb ?? null }) };
  return { ...known, absent: failure ?? true };
}

/** Another token may be let in: the intent is not over. */
function isCredentials(failure: Failure | undefined): boolean {
  return failure?.code.startsWith('credentials.') === true;
}

/**
 * Whether a call was armed, and it is not known what became of it. One that was refused is not in doubt until
 * something speaks against that.
 */
export function isUnsettled(memory: IntentMemory): memory is IntentMemory & { readonly armedAt: string } {
  const { armedAt, landed, absent, refused, lost } = memory;
  return armedAt !== undefined && landed === undefined && absent === undefined && !(refused && !lost);
}

/** When the entry was written; of a call that a run has handed on, when the run had armed it. */
function armedAt({ at }: Entry, { armedAt: told }: { readonly [key: string]: Json }): string {
  return typeof told === 'string' ? told : at;
}

function verbOf({ verb }: { readonly [key: string]: Json }): { readonly verb?: string } {
  return typeof verb === 'string' ? { verb } : {};
}

/** A call that was refused. The same is sent again only after a look for it. */
export interface RefusedCall {
  readonly intent: string;
  readonly input: { readonly [key: string]: Json };
  readonly memory: IntentMemory;
}

/** What a person says of a call in doubt; any other answer leaves it as it is. */
export const DECISIONS: ReadonlySet<string> = new Set([
  'operator.adopt',
  'operator.hasBegun',
  'operator.sendAgain',
]);

/**
 * Calls of the same wish (verb, purpose and input) that were refused before the intent, the oldest first, as
 * far as nothing has resolved them since: another one of the verb that landed, or a person's decision. Pure.
 */
export function refusedBefore(
  entries: readonly Entry[],
  { intent, verb, input }: Pick<RefusedCall, 'intent' | 'input'> & { readonly verb: string },
): readonly RefusedCall[] {
  const begun = new Map<string, RefusedCall['input']>();
  for (const { type, body } of sinceResolved(entries, verb)) {
    const { key, input: given } = body as { readonly key?: Json; readonly input?: RefusedCall['input'] };
    if (type === 'activity.begun' && typeof key === 'string') begun.set(key, given ?? {});
  }
  return [...foldIntents(entries)].flatMap(([earlier, memory]) => {
    const given = begun.get(earlier);
    const isSame =
      given !== undefined && earlier !== intent && wishOf(earlier, given) === wishOf(intent, input);
    if (!isSame || memory.verb !== verb || memory.refused === undefined) return [];
    return memory.landed === undefined && memory.absent !== true
      ? [{ intent: earlier, input: given, memory }]
      : [];
  });
}

/** The entries behind the last one that resolved what the verb was asked for. */
function sinceResolved(entries: readonly Entry[], verb: string): readonly Entry[] {
  const last = entries.findLastIndex(({ type, body }) => {
    const { sent, verdict, verb: its, event } = body as Readonly<Record<string, Json>>;
    if (type === 'event') return DECISIONS.has(String((event as { readonly type?: Json } | undefined)?.type));
    if (type === 'call.decided') return its === verb;
    return its === verb && (sent === 'landed' || verdict === 'landed');
  });
  return entries.slice(last + 1);
}

/**
 * What a call is for: intents of one purpose differ in the number at their end only, and those of single
 * commands in all of it.
 */
function wishOf(intent: string, { intent: _, ...input }: RefusedCall['input']): string {
  return JSON.stringify([intent.replace(/-[^-]*$/u, ''), Object.entries(input).sort()]);
}
