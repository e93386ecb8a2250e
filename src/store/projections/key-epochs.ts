import * as z from 'zod';
import type { Entry } from '../journal.ts';

/** An interval in which a key was set on the instance. RFC 3339 UTC, by the clock that stamps entries. */
export interface Period {
  readonly setAt: string;
  readonly endedAt: string;
}

/** What an instance's ledger knows about one key. Sequence numbers are those of the ledger's entries. */
export interface KeyEpoch {
  readonly fingerprint: string;
  /**
   * The newest knowledge: `pending` stored, not known to be sent; `set` in force; `uncertain` sent, no
   * answer; `proven` a backup was opened with it; `refuted` the service did not take it; `added` by hand, or
   * named only as another key's predecessor, in force at an unknown time. `endedAt` says whether it has
   * ended.
   */
  readonly state: 'pending' | 'set' | 'uncertain' | 'proven' | 'refuted' | 'added';
  /** Since when it is in force (or was, if `endedAt` is set). Undefined: it was never known to be. */
  readonly setAt: string | undefined;
  /** Until when it can have been in force. Undefined: it may still be. */
  readonly endedAt: string | undefined;
  /** The key whose setting ended it; undefined again after that key was set again later. */
  readonly endedBy: string | undefined;
  /** Intervals before the present one: a key can be set again. */
  readonly earlier: readonly Period[];
  /** Who set it last, and by which run; missing where the ledger does not say. */
  readonly setBy?: string | undefined;
  readonly setIn?: string | undefined;
  /** When it was last proven. */
  readonly provenAt: string | undefined;
  readonly origin: 'generated' | 'given' | undefined;
  readonly note: string | undefined;
  /** The ledger entry that last put it in force; 0 for never. */
  readonly setSeq: number;
  /** The ledger entry that last may have put it in force; orders keys by newness. */
  readonly sentSeq: number;
  /** How many requests with it have neither a recorded answer nor a later finding about their outcome. */
  readonly unanswered: number;
  /** When the newest request that may still arrive was sent, by its sender's clock; undefined for none. */
  readonly lostAt: string | undefined;
}

/**
 * The key epochs of an instance, from the entries of its ledger in order: one for each fingerprint ever
 * named, in order of appearance. Total: ignores entries of other types, and broken entries cannot make it
 * fail.
 *
 * Setting a key ends the one before. A key whose answer was lost ends nothing, and stays possible until it is
 * refuted or until a key set after it is proven; one that is stored and perhaps sent (`pending`) until it is
 * set or refuted. A refuted key never was in force, so the key that it had ended continues.
 */
export function foldEpochs(entries: readonly Entry[]): readonly KeyEpoch[] {
  return nextEpochs([], entries);
}

/** The epochs after further entries of the same ledger. Pure; the given ones stay unchanged. */
export function nextEpochs(
  before: readonly KeyEpoch[],
  entries: readonly (Pick<Entry, 'type' | 'body'> & Moment)[],
): readonly KeyEpoch[] {
  const epochs = new Map(before.map((epoch): [string, Draft] => [epoch.fingerprint, { ...epoch }]));
  for (const entry of entries) {
    const fact = readKeyFact(entry);
    if (fact !== undefined) apply(epochs, fact, entry);
  }
  return [...epochs.values()];
}

/**
 * The key known to be in force; `undefined` if there is none, or if a key was sent after it whose answer is
 * lost. A `pending` key, not known to be sent, does not put it in doubt; `candidates` has both.
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
type Moment = Pick<Entry, 'at' | 'seq'> & Partial<Pick<Entry, 'by'>>;

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
      // One of several requests was answered; the others may still arrive.
      if (epoch.unanswered <= 1) epoch.lostAt = undefined;
      setInForce(epochs, epoch, moment);
      epoch.setBy = moment.by;
      epoch.setIn = fact.body.run;
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

/** The epoch of a fingerprint, created in `state` if it is new. */
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

/** The key is about to be sent, or was sent: from now on it may be in force (again). */
function send(epochs: Drafts, fingerprint: string, moment: Moment): Draft {
  const epoch = known(epochs, fingerprint, 'pending', moment);
  epoch.sentSeq = moment.seq;
  if (!isOpen(epoch)) reopen(epochs, epoch);
  return epoch;
}

/** A request with the key has no answer, or none yet: the key or `previous` is in force. */
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

/** A refusal answers one request; only if it was the only one, the key returns to its earlier state. */
function refuse(epoch: Draft): void {
  if (epoch.unanswered === 0) return;
  epoch.unanswered -= 1;
  if (epoch.unanswered > 0) return;
  epoch.lostAt = undefined;
  if (epoch.state === 'uncertain') epoch.state = 'pending';
}

/** The ledger may not know the predecessor yet, or may believe that it ended: it is possible nevertheless. */
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
  // Whatever its earlier period ended stays ended, regardless of the new one.
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
  // A backup opens with a key only if the service took it: that ends the doubt about a sent key, unless it
  // may have been in force long before.
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
  // It was taken, as a backup proves, and has since been replaced by someone else.
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

/** It was known to be in force, and stays in force while it is sent again. */
function isInForce(epoch: KeyEpoch): boolean {
  return epoch.setAt !== undefined && (epoch.state === 'set' || epoch.state === 'proven');
}

/** 12 lower-case hex digits; see `Keyring.fingerprint`. */
export const Fingerprint = z.string().regex(/^[0-9a-f]{12}$/);

/** A backup: `id` inside the instance, `backup_id` across instances (service-api.md section 2.1). */
const BackupName = z.object({ id: z.int(), backup_id: z.string().optional() });

const run = z.string();
/**
 * When it was sent or lost, by the clock of the sender, which may not be the one that stamps entries. RFC
 * 3339.
 */
const at = z.string().optional();

/** Bodies of the entries about keys in the stream `instance/<name>`, by entry type. */
const KEY_ENTRIES = {
  /** The key is stored and may be sent from now on. `length` in characters, `store` the kind of key store. */
  'key.pending': z.object({
    fingerprint: Fingerprint,
    run,
    origin: z.enum(['generated', 'given']),
    store: z.string(),
    length: z.int().nonnegative(),
    /** For a generated key: `checkOfGenerated`. */
    check: z.string().optional(),
  }),
  /**
   * A request with the key may have been sent: until its answer is on record, it or `previous` is in force.
   */
  'key.sent': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** The newest request with the key was refused, or never sent. Says nothing about earlier ones. */
  'key.refused': z.object({ fingerprint: Fingerprint, run }),
  /** The key is in force: the service said so, its state proved it, or the operator set it elsewhere. */
  'key.set': z.object({
    fingerprint: Fingerprint,
    run,
    answer: z.enum(['accepted', 'adopted', 'outside']),
  }),
  /** The key was sent and the answer is lost: it or `previous` is in force. */
  'key.uncertain': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** A backup was opened with the key and read; `negative` says whether the backup refused another key. */
  'key.proven': z.object({
    fingerprint: Fingerprint,
    run,
    backup: BackupName,
    verdict: z.enum(['fits', 'intact', 'readable', 'restored']),
    cipherSha256: z.string(),
    contentSha256: z.string().optional(),
    /** Bytes of the file, and of its content; missing in older entries. */
    cipherBytes: z.int().nonnegative().optional(),
    contentBytes: z.int().nonnegative().optional(),
    negative: z.enum(['refused', 'not-applicable']),
  }),
  /** A backup made after the key was sent does not open with it: the service did not take it. */
  'key.refuted': z.object({ fingerprint: Fingerprint, run, backup: BackupName }),
  /** An operator stored a key by hand; when it was in force is unknown. */
  'key.added': z.object({ fingerprint: Fingerprint, note: z.string().optional() }),
} as const;

type KeyEntryType = keyof typeof KEY_ENTRIES;
type KeyEntryBody<Type extends KeyEntryType> = z.infer<(typeof KEY_ENTRIES)[Type]>;

/** An entry about a key, read. */
export type KeyFact = {
  [Type in KeyEntryType]: { readonly type: Type; readonly body: KeyEntryBody<Type> };
}[KeyEntryType];

const Named = z.object({ fingerprint: Fingerprint });

/**
 * Reads an entry about a key; `undefined` for any other. A malformed body that names a fingerprint counts as
 * `key.uncertain`: no key of a ledger is left out, and nothing more is assumed.
 */
export function readKeyFact(entry: Pick<Entry, 'type' | 'body'>): KeyFact | undefined {
  if (!isKeyEntryType(entry.type)) return undefined;
  const whole = KEY_ENTRIES[entry.type].safeParse(entry.body);
  // The schema was looked up by the type, so the two match; TypeScript cannot follow that.
  if (whole.success) return { type: entry.type, body: whole.data } as KeyFact;
  const named = Named.safeParse(entry.body);
  if (!named.success) return undefined;
  return { type: 'key.uncertain', body: { fingerprint: named.data.fingerprint, run: '' } };
}

/** Whether entries of this type are about keys. */
export function isKeyEntryType(type: string): type is KeyEntryType {
  return Object.hasOwn(KEY_ENTRIES, type);
}
