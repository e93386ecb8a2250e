import type { Failure } from '../../base/failure.ts';
import { type Entry, fieldsOf, type Json } from '../journal.ts';
import { growing } from './projection.ts';

/** What the journal knows of one intent: a single send of a call that must not happen twice. */
export interface IntentMemory {
  readonly baseline: Json;
  /** The verb that is performed, where the entry tells it. */
  readonly verb?: string;
  /** A byte may have left: never sent again unless it was refused and nothing shows that it was done. */
  readonly armedAt?: string;
  /** When it was armed for the first time, where it was sent again after a refusal. RFC 3339. */
  readonly firstArmedAt?: string;
  /** The last answer, if it says that nothing was done: before a new send, the service itself is asked. */
  readonly refused?: Failure;
  readonly landed?: Json;
  /** What showed that it landed, where its answer was lost. */
  readonly evidence?: Json;
  readonly absent?: Failure | true;
  /** Why the outcome of the send is not known, when the process lived to write it down. */
  readonly lost?: Failure;
  /** What the service showed at the last look that decided nothing: the candidates are in its evidence. */
  readonly unclear?: Failure;
  /** From when on nobody was sending it: a lost request may arrive for a while after that. RFC 3339. */
  readonly lostAt?: string;
}

/**
 * Intents by id, as the journal tells them. Entries that grow are folded once (`growing`): what a call gave
 * grows with them, each memory in it stays as it is.
 */
export const foldIntents: (entries: readonly Entry[]) => ReadonlyMap<string, IntentMemory> = growing(
  () => new Map<string, IntentMemory>(),
  (intents, entry: Entry) => {
    const id = intentOf(entry);
    const memory = id === undefined ? undefined : remember(intents.get(id), entry);
    if (id !== undefined && memory !== undefined) intents.set(id, memory);
  },
);

/** Which intent an entry is about; undefined for most. */
export function intentOf({ type, body }: Pick<Entry, 'type' | 'body'>): string | undefined {
  if (!ABOUT_INTENTS.has(type)) return undefined;
  const { key, intent } = fieldsOf(body);
  const id = type === 'activity.begun' ? key : intent;
  return typeof id === 'string' ? id : undefined;
}

const ABOUT_INTENTS: ReadonlySet<string> = new Set([
  'activity.begun',
  'intent.prepared',
  'intent.armed',
  'intent.outcome',
  'intent.judged',
]);

/** What is known of an intent after an entry that is about it (`intentOf`). Pure. */
export function remember(known: IntentMemory | undefined, entry: Entry): IntentMemory | undefined {
  const body = fieldsOf(entry.body) as Body;
  if (entry.type === 'intent.prepared') return { baseline: body['baseline'] ?? null, ...verbOf(body) };
  if (known === undefined) return undefined;
  if (entry.type === 'activity.begun') return takenUp(known, momentOf(body, 'begunAt', entry));
  if (entry.type === 'intent.armed') return armed(known, body, momentOf(body, 'armedAt', entry));
  return concluded(known, body, momentOf(body, 'lostAt', entry));
}

/**
 * A moment by the clock of the machine that wrote the entry, with which the service's was compared. The entry
 * itself may have the database's time; it counts where the body has none.
 */
function momentOf(body: Body, field: string, { at }: Entry): string {
  const moment = body[field];
  return typeof moment === 'string' ? moment : at;
}

type Body = { readonly [key: string]: Json };

/**
 * Armed, perhaps once more: what was said of the send before is over, what was there before it stays. A call
 * that was handed on tells of its first arming itself.
 */
function armed(
  { baseline, verb, armedAt: before, ...known }: IntentMemory,
  body: Body,
  at: string,
): IntentMemory {
  const recorded = body['firstArmedAt'];
  const first = known.firstArmedAt ?? before ?? (typeof recorded === 'string' ? recorded : undefined);
  return { baseline, ...verbOf({ verb: verb ?? null }), armedAt: at, ...(first && { firstArmedAt: first }) };
}

/** The process that armed it died before it wrote an outcome down, some time before this one. */
function takenUp(known: IntentMemory, at: string): IntentMemory {
  return known.armedAt === undefined || known.lostAt !== undefined ? known : { ...known, lostAt: at };
}

function concluded(known: IntentMemory, body: Body, lostAt: string): IntentMemory {
  const word = body['sent'] ?? body['verdict'];
  const { evidence } = body;
  if (word === 'landed')
    return { ...known, landed: body['output'] ?? null, ...(evidence === undefined ? {} : { evidence }) };
  const failure = body['failure'] as unknown as Failure | undefined;
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
  return typeof failure?.code === 'string' && failure.code.startsWith('credentials.');
}

/** Whether what became of an armed call is not known; of a refused one, only if something contradicts. */
export function isInDoubt(memory: IntentMemory): memory is IntentMemory & { readonly armedAt: string } {
  const { armedAt, landed, absent, refused, lost } = memory;
  return armedAt !== undefined && landed === undefined && absent === undefined && !(refused && !lost);
}

function verbOf({ verb }: Body): { readonly verb?: string } {
  return typeof verb === 'string' ? { verb } : {};
}

/** What a person says of a call in doubt; any other answer leaves it as it is. */
export const DECISIONS: ReadonlySet<string> = new Set([
  'operator.adopt',
  'operator.hasBegun',
  'operator.sendAgain',
]);
