import type { Entry } from '../journal.ts';
import { type KeyEntryBody, type KeyFact, readKeyFact } from './key-facts.ts';

/** An interval in which a key was set on the instance. RFC 3339 UTC, by the clock that stamps entries. */
export interface Period {
  readonly setAt: string;
  readonly endedAt: string;
}

/** What an instance's ledger knows about one key. Sequence numbers are those of the ledger's entries. */
export interface KeyEpoch {
  readonly fingerprint: string;
  /**
   * The newest thing known: `pending` stored, not known to be sent; `set` in force; `uncertain` sent, no
   * answer; `proven` a backup was opened with it; `refuted` the service did not take it; `added` by hand, or
   * named only as another key's predecessor: when it was in force is not known. Whether it has ended is in
   * `endedAt`.
   */
  readonly state: 'pending' | 'set' | 'uncertain' | 'proven' | 'refuted' | 'added';
  /** Since when it is in force (or was, when `endedAt` is there). Undefined: it was never known to be. */
  readonly setAt: string | undefined;
  /** Until when it can have been in force. Undefined: it may be so now. */
  readonly endedAt: string | undefined;
  /** The key whose setting ended it; undefined again when that key was set anew later. */
  readonly endedBy: string | undefined;
  /** Intervals before the present one: a key can be set again. */
  readonly earlier: readonly Period[];
  /** The newest proof's time. */
  readonly provenAt: string | undefined;
  readonly origin: 'generated' | 'given' | undefined;
  readonly note: string | undefined;
  /** Where the ledger last said that it is in force; 0 for never. */
  readonly setSeq: number;
  /** Where the ledger last said anything that may have put it in force: its newness. */
  readonly sentSeq: number;
  /** How many requests with it have no answer on record, and nothing has shown since what became of them. */
  readonly unanswered: number;
  /** When the newest request left that may still arrive, by its sender's clock; undefined for none. */
  readonly lostAt: string | undefined;
}

/**
 * The key epochs of an instance, from the entries of its ledger in order, one for each fingerprint that was
 * ever named, in the order of appearance. Total: entries of other types are passed over, broken ones cannot
 * make it fail.
 *
 * Setting a key ends the one before. A key sent with its answer lost ends nothing, and stays possible until
 * it is refuted or until a key set after it is proven; one that is stored and perhaps sent (`pending`) until
 * it is set or refuted. A refuted key never was in force, so what it had ended goes on.
 */
export function foldEpochs(entries: readonly Entry[]): readonly KeyEpoch[] {
  return nextEpochs([], entries);
}

/** The epochs after further entries of the same ledger. Pure; those given stay as they are. */
export function nextEpochs(
  before: readonly KeyEpoch[],
  entries: readonly Pick<Entry, 'type' | 'body' | 'at' | 'seq'>[],
): readonly KeyEpoch[] {
  const epochs = new Map(before.map((epoch): [string, Draft] => [epoch.fingerprint, { ...epoch }]));
  for (const entry of entries) {
    const fact = readKeyFact(entry);
    if (fact !== undefined) apply(epochs, fact, entry);
  }
  return [...epochs.values()];
}

/**
 * The key that is in force, as far as is known: `undefined` for none, and when a key was sent after it whose
 * answer is lost. A `pending` key, not known to be sent, does not put it in doubt; `candidates` has both.
 */
export function currentKey(epochs: readonly KeyEpoch[]): KeyEpoch | undefined {
  const current = epochs.find((epoch) => isOpen(epoch) && isInForce(epoch));
  const doubted = epochs.some(
    (epoch) => isOpen(epoch) && epoch.state === 'uncertain' && epoch.sentSeq > (current?.setSeq ?? 0),
  );
  return doubted ? undefined : current;
}

/** Every key that could be in force now, newest first: set, sent, uncertain or added, and not ended. */
export function candidates(epochs: readonly KeyEpoch[]): readonly KeyEpoch[] {
  return epochs.filter(isOpen).sort((one, other) => other.sentSeq - one.sentSeq);
}

type Draft = { -readonly [Field in keyof KeyEpoch]: KeyEpoch[Field] };
type Drafts = Map<string, Draft>;
type Moment = Pick<Entry, 'at' | 'seq'>;

function apply(epochs: Drafts, fact: KeyFact, moment: Moment): void {
  switch (fact.type) {
    case 'key.pending': {
      const epoch = send(epochs, fact.body.fingerprint, moment);
      if (!isInForce(epoch)) epoch.state = 'pending';
      epoch.origin = fact.body.origin;
      return;
    }
    case 'key.sent':
      lose(epochs, fact.body, moment).unanswered += 1;
      return;
    case 'key.uncertain': {
      const epoch = lose(epochs, fact.body, moment);
      epoch.unanswered = Math.max(epoch.unanswered, 1);
      return;
    }
    case 'key.refused':
      refuse(known(epochs, fact.body.fingerprint, 'added', moment));
      return;
    case 'key.set': {
      const epoch = known(epochs, fact.body.fingerprint, 'set', moment);
      // Of several requests one was answered; the others may still arrive.
      if (epoch.unanswered <= 1) epoch.lostAt = undefined;
      setInForce(epochs, epoch, moment);
      return;
    }
    case 'key.proven':
      prove(epochs, fact.body, moment);
      return;
    case 'key.refuted':
      refute(epochs, known(epochs, fact.body.fingerprint, 'refuted', moment), moment);
      return;
    case 'key.added': {
      const epoch = known(epochs, fact.body.fingerprint, 'added', moment);
      epoch.note = fact.body.note ?? epoch.note;
      return;
    }
  }
}

/** The epoch of a fingerprint, begun in `state` when this is the first that is heard of it. */
function known(epochs: Drafts, fingerprint: string, state: KeyEpoch['state'], { seq }: Moment): Draft {
  const before = epochs.get(fingerprint);
  if (before !== undefined) return before;
  const epoch: Draft = {
    fingerprint,
    state,
    setAt: undefined,
    endedAt: undefined,
    endedBy: undefined,
    earlier: [],
    provenAt: undefined,
    origin: undefined,
    note: undefined,
    setSeq: 0,
    sentSeq: seq,
    unanswered: 0,
    lostAt: undefined,
  };
  epochs.set(fingerprint, epoch);
  return epoch;
}

/** The key is about to go to the service, or went: from here on it may be in force (again). */
function send(epochs: Drafts, fingerprint: string, moment: Moment): Draft {
  const epoch = known(epochs, fingerprint, 'pending', moment);
  epoch.sentSeq = moment.seq;
  if (!isOpen(epoch)) reopen(epochs, epoch);
  return epoch;
}

/** A request with the key has no answer, or none yet: it or `previous` is in force. */
function lose(
  epochs: Drafts,
  { fingerprint, previous, at }: KeyEntryBody<'key.sent' | 'key.uncertain'>,
  moment: Moment,
): Draft {
  if (previous !== undefined) precede(epochs, previous, moment);
  const epoch = send(epochs, fingerprint, moment);
  if (!isInForce(epoch)) epoch.state = 'uncertain';
  epoch.lostAt = at ?? moment.at;
  return epoch;
}

/** A refusal answers for one request; only when it was the only one, the key is as it was before. */
function refuse(epoch: Draft): void {
  if (epoch.unanswered === 0) return;
  epoch.unanswered -= 1;
  if (epoch.unanswered > 0) return;
  epoch.lostAt = undefined;
  if (epoch.state === 'uncertain') epoch.state = 'pending';
}

/** The ledger may not know a predecessor yet, or believe that it has ended: it is possible all the same. */
function precede(epochs: Drafts, fingerprint: string, { at, seq }: Moment): void {
  const epoch = known(epochs, fingerprint, 'added', { at, seq: seq - 1 });
  if (isOpen(epoch)) return;
  reopen(epochs, epoch);
  epoch.state = 'added';
  epoch.sentSeq = seq - 1;
}

function reopen(epochs: Drafts, epoch: Draft): void {
  const { setAt, endedAt } = epoch;
  if (setAt !== undefined && endedAt !== undefined && epoch.state !== 'refuted') {
    epoch.earlier = [...epoch.earlier, { setAt, endedAt }];
  }
  // What its earlier period ended has ended, whatever becomes of the new one.
  for (const other of epochs.values()) if (other.endedBy === epoch.fingerprint) other.endedBy = undefined;
  epoch.state = 'pending';
  epoch.setAt = undefined;
  epoch.endedAt = undefined;
  epoch.endedBy = undefined;
  epoch.unanswered = 0;
}

function setInForce(epochs: Drafts, epoch: Draft, moment: Moment): void {
  if (!isOpen(epoch)) reopen(epochs, epoch);
  if (epoch.state !== 'proven') epoch.state = 'set';
  epoch.setAt ??= moment.at;
  epoch.setSeq = moment.seq;
  epoch.sentSeq = moment.seq;
  epoch.unanswered = 0;
  for (const other of epochs.values()) {
    if (other !== epoch && isOpen(other) && !isSent(other)) end(other, epoch, moment);
  }
}

function prove(epochs: Drafts, { fingerprint }: KeyEntryBody<'key.proven'>, moment: Moment): void {
  const epoch = known(epochs, fingerprint, 'added', moment);
  epoch.provenAt = moment.at;
  // A backup opens with a key only when the service had taken it: that ends the doubt about one that was
  // sent, unless it may have been in force long before.
  const isNew = epoch.origin === 'generated' && epoch.earlier.length === 0;
  if (isSent(epoch) && isNew) setInForce(epochs, epoch, moment);
  if (!isSent(epoch) && epoch.state !== 'refuted') epoch.state = 'proven';
  if (!isOpen(epoch) || !isInForce(epoch)) return;
  for (const other of epochs.values()) {
    const isOlder = other.state === 'uncertain' && other.sentSeq < epoch.setSeq;
    if (isOpen(other) && isOlder) end(other, epoch, moment);
  }
}

function refute(epochs: Drafts, epoch: Draft, moment: Moment): void {
  const { endedAt, endedBy } = epoch;
  epoch.endedAt ??= moment.at;
  epoch.unanswered = 0;
  // It was taken, as a backup proves, and has been replaced since by somebody else.
  if (epoch.state === 'proven') return;
  epoch.state = 'refuted';
  for (const other of epochs.values()) {
    if (other.endedBy !== epoch.fingerprint) continue;
    other.endedAt = endedAt;
    other.endedBy = endedBy;
  }
}

function end(epoch: Draft, by: KeyEpoch, { at }: Moment): void {
  epoch.endedAt = at;
  epoch.endedBy = by.fingerprint;
}

function isOpen(epoch: KeyEpoch): boolean {
  return epoch.endedAt === undefined;
}

function isSent(epoch: KeyEpoch): boolean {
  return epoch.state === 'pending' || epoch.state === 'uncertain';
}

/** It was said to be in force, and so it stays in force while it is re-sent. */
function isInForce(epoch: KeyEpoch): boolean {
  return epoch.setAt !== undefined && (epoch.state === 'set' || epoch.state === 'proven');
}
