import type { SendEvent } from '../../../machines/send.ts';
import { advance, type Send } from '../../../machines/send-state.ts';
import type { Failure } from '../../base/failure.ts';
import { type Entry, fieldsOf, type Json } from '../journal.ts';
import { incrementalFold } from './projection.ts';

/** By intent, from the entries of a run or a ledger. */
export function foldSends(entries: readonly Entry[]): ReadonlyMap<string, Send> {
  return folded(entries).sends;
}

const folded = incrementalFold(
  (): { readonly sends: Map<string, Send>; armed: string | undefined } => ({
    sends: new Map(),
    armed: undefined,
  }),
  (stream, entry: Entry) => {
    const id = intentOf(entry) ?? (isDecision(entry) ? stream.armed : undefined);
    if (id === undefined) return;
    if (entry.type === 'intent.armed') stream.armed = id;
    const send = sendAfter(stream.sends.get(id), entry);
    if (send !== undefined) stream.sends.set(id, send);
  },
);

/** Undefined for most entries. */
export function intentOf({ type, body }: Pick<Entry, 'type' | 'body'>): string | undefined {
  const field = INTENT_FIELDS[type];
  const id = field === undefined ? undefined : fieldsOf(body)[field];
  return typeof id === 'string' ? id : undefined;
}

const INTENT_FIELDS: Readonly<Record<string, string>> = {
  'activity.begun': 'key',
  'intent.prepared': 'intent',
  'intent.armed': 'intent',
  'intent.outcome': 'intent',
  'intent.judged': 'intent',
  'call.decided': 'call',
};

/** A person's decision about a call in doubt of a run; one call is asked about at a time, the last armed. */
export function isDecision({ type, body }: Pick<Entry, 'type' | 'body'>): boolean {
  return type === 'event' && Object.hasOwn(DECISIONS, wordOfEvent(body));
}

const DECISIONS: Readonly<Record<string, 'adopted' | 'givenUp'>> = {
  'operator.adopt': 'adopted',
  'operator.hasBegun': 'adopted',
  'operator.sendAgain': 'givenUp',
};

function wordOfEvent(body: Json): string {
  return String(fieldsOf(fieldsOf(body)['event'])['type']);
}

/** Undefined before the send is prepared. Entries that the machine does not expect change nothing. Pure. */
export function sendAfter(send: Send | undefined, entry: Entry): Send | undefined {
  const events = eventsOf(send, entry);
  return events.reduce<Send | undefined>(advance, send);
}

function eventsOf(send: Send | undefined, entry: Entry): readonly SendEvent[] {
  const body = fieldsOf(entry.body);
  switch (entry.type) {
    case 'activity.begun':
      return [{ type: 'takenUp', at: momentOf(body, 'begunAt', entry) }];
    case 'intent.prepared':
      return [...lookedAt(send), { type: 'prepared', baseline: body['baseline'] ?? null, ...verbOf(body) }];
    case 'intent.armed': {
      const firstAt = textOf(body['firstArmedAt']);
      return [...lookedAt(send), { type: 'armed', at: momentOf(body, 'armedAt', entry), firstAt }];
    }
    case 'intent.outcome':
    case 'intent.judged':
      return outcomeOf(body, momentOf(body, 'lostAt', entry));
    case 'call.decided':
      return decided(
        typeof body['became'] === 'number' || body['landed'] === true ? 'adopted' : 'givenUp',
        body['became'],
      );
    default: {
      const word = DECISIONS[wordOfEvent(entry.body)];
      return word === undefined ? [] : decided(word, fieldsOf(body['event'])['id']);
    }
  }
}

function decided(word: 'adopted' | 'givenUp', id: unknown): readonly SendEvent[] {
  if (word === 'givenUp' || typeof id !== 'number') return [{ type: word }];
  return [{ type: word, output: { landed: true, id, adopted: true } }];
}

/** Earlier versions also looked before another attempt, but wrote no entry about it. */
function lookedAt(send: Send | undefined): readonly SendEvent[] {
  return send?.state === 'refused' ? [{ type: 'showsNothing' }] : [];
}

function outcomeOf(body: Body, at: string): readonly SendEvent[] {
  const { output = null, evidence } = body;
  const shown = evidence === undefined ? {} : { evidence };
  const failure = body['failure'] as unknown as Failure | undefined;
  const isRefusal = body['refused'] === true;
  switch (body['sent'] ?? body['verdict']) {
    case 'landed':
      return [{ type: 'landed', output, ...shown }];
    case 'nothing':
      return [{ type: 'showsNothing', ...shown }];
    case 'absent':
      if (failure === undefined) return [{ type: 'absent', ...shown }];
      return [{ type: isRefusal ? 'refused' : 'neverLeft', failure, at }];
    case 'unknown':
      return failure === undefined ? [] : [{ type: 'lost', failure, isRefusal, at }];
    case 'ambiguous':
      return failure === undefined ? [] : [{ type: 'unclear', failure }];
    default:
      return [];
  }
}

type Body = { readonly [key: string]: unknown };

/**
 * By the clock of the machine that wrote the entry, which was compared with the service's. The entry's own
 * time, which may be the database's, counts only if the body has none.
 */
function momentOf(body: Body, field: string, { at }: Entry): string {
  return textOf(body[field]) ?? at;
}

function verbOf({ verb }: Body): { readonly verb?: string } {
  return typeof verb === 'string' ? { verb } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
