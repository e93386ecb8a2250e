import * as z from 'zod';
import type { Entry } from '../journal.ts';

/** RFC 3339 UTC, by the clock that stamps entries. */
export interface Period {
  readonly setAt: string;
  readonly endedAt: string;
}

/** Of one key. Sequence numbers are those of the ledger's entries. */
export interface KeyEpoch {
  readonly fingerprint: string;
  /**
   * The newest knowledge: `pending` stored, not known to be sent; `set` in force; `uncertain` sent, no
   * answer; `proven` it opened a backup; `refuted` the service did not take it; `added` by hand, or named
   * only as another key's predecessor, in force at an unknown time. `endedAt` says if it has ended.
   */
  readonly state: 'pending' | 'set' | 'uncertain' | 'proven' | 'refuted' | 'added';
  /** Since when it is (or, with `endedAt`, was) in force. Undefined: it was never known to be. */
  readonly setAt: string | undefined;
  /** Until when it can have been in force. Undefined: it may still be. */
  readonly endedAt: string | undefined;
  /** The key whose setting ended it; undefined after that key was set again. */
  readonly endedBy: string | undefined;
  /** Before the present one: a key can be set again. */
  readonly earlier: readonly Period[];
  /** Who set it last, and by which run, if recorded. */
  readonly setBy?: string | undefined;
  readonly setIn?: string | undefined;
  /** The last time. */
  readonly provenAt: string | undefined;
  readonly origin: 'generated' | 'given' | undefined;
  readonly note: string | undefined;
  /** The entry that last put it in force; 0 for never. */
  readonly setSeq: number;
  /** The entry that last may have put it in force; orders keys by newness. */
  readonly sentSeq: number;
  /** Requests with neither a recorded answer nor a later finding about their outcome. */
  readonly unanswered: number;
  /** By the sender's clock: the newest request that may still arrive; undefined for none. */
  readonly lostAt: string | undefined;
}

/**
 * From a ledger's entries in order: one epoch for each fingerprint ever named, in order of appearance.
 * Ignores other entries, and broken ones cannot make it fail.
 *
 * Setting a key ends the one before. A key whose answer was lost ends nothing, and stays possible until it is
 * refuted or a key set after it is proven; one that is stored and perhaps sent (`pending`) until it is set or
 * refuted. A refuted key never was in force, so the key that it had ended continues.
 */
export function foldEpochs(entries: readonly Entry[]): readonly KeyEpoch[] {
  return nextEpochs([], entries);
}

/** Pure; the given epochs stay unchanged. */
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
 * The key known to be in force; undefined if there is none, or if a later key was sent and its answer is
 * lost. A `pending` key, not known to be sent, does not put it in doubt; `candidates` has both.
 */
export function currentKey(epochs: readonly KeyEpoch[]): KeyEpoch | undefined {
  const current = epochs.find((epoch) => isOpen(epoch) && isInForce(epoch));
  const doubted = epochs.some(
    (epoch) => isOpen(epoch) && epoch.state === 'uncertain' && epoch.sentSeq > (current?.setSeq ?? 0),
  );
  return doubted ? undefined : current;
}

/** Keys that could be in force now, newest first: set, sent, uncertain or added, and not ended. */
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
      // Only one of several requests was answered; the others may still arrive.
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

/** Created in `state` if it is new. */
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

/** The key is or was about to be sent: from now on it may be in force (again). */
function send(epochs: Drafts, fingerprint: string, moment: Moment): Draft {
  const epoch = known(epochs, fingerprint, 'pending', moment);
  epoch.sentSeq = moment.seq;
  if (!isOpen(epoch)) reopen(epochs, epoch);
  return epoch;
}

/** A request with the key has no answer yet: the key or `previous` is in force. */
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

/** A refusal answers one request; only without others the key returns to its earlier state. */
function refuse(epoch: Draft): void {
  if (epoch.unanswered === 0) return;
  epoch.unanswered -= 1;
  if (epoch.unanswered > 0) return;
  epoch.lostAt = undefined;
  if (epoch.state === 'uncertain') epoch.state = 'pending';
}

/** Possible even if the ledger does not know the predecessor, or believes that it ended. */
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
  // Keys that its earlier period ended stay ended.
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
  // A backup opens only if the service took the key: the doubt about a sent key ends, unless it may have been
  // in force long before.
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
  // A backup proves that it was taken; someone else has replaced it since.
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

/** Known to be in force; stays so while it is sent again. */
function isInForce(epoch: KeyEpoch): boolean {
  return epoch.setAt !== undefined && (epoch.state === 'set' || epoch.state === 'proven');
}

/** 12 lower-case hex digits; see `Keyring.fingerprint`. */
export const Fingerprint = z.string().regex(/^[0-9a-f]{12}$/);

/** `id` inside the instance, `backup_id` across instances (service-api.md section 2.1). */
const BackupName = z.object({ id: z.int(), backup_id: z.string().optional() });

const run = z.string();
/** When it was sent or lost, by the sender's clock, which may not stamp entries. RFC 3339. */
const at = z.string().optional();

/** In the stream `instance/<name>`. */
const KEY_ENTRIES = {
  /** Stored; may be sent from now on. `length` in characters, `store` the kind of key store. */
  'key.pending': z.object({
    fingerprint: Fingerprint,
    run,
    origin: z.enum(['generated', 'given']),
    store: z.string(),
    length: z.int().nonnegative(),
    /** `checkOfGenerated`, for a generated key. */
    check: z.string().optional(),
  }),
  /** A request may have been sent: until its answer is on record, the key or `previous` is in force. */
  'key.sent': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** The newest request was refused or never sent. Says nothing about earlier ones. */
  'key.refused': z.object({ fingerprint: Fingerprint, run }),
  /** In force: the service said so, its state proved it, or the operator set the key elsewhere. */
  'key.set': z.object({
    fingerprint: Fingerprint,
    run,
    answer: z.enum(['accepted', 'adopted', 'outside']),
  }),
  /** Sent, and the answer is lost: the key or `previous` is in force. */
  'key.uncertain': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** The key opened a backup; `negative` says if the backup refused another key. */
  'key.proven': z.object({
    fingerprint: Fingerprint,
    run,
    backup: BackupName,
    verdict: z.enum(['fits', 'intact', 'readable', 'restored']),
    cipherSha256: z.string(),
    contentSha256: z.string().optional(),
    /** Of the file, and of its content; missing in older entries. */
    cipherBytes: z.int().nonnegative().optional(),
    contentBytes: z.int().nonnegative().optional(),
    negative: z.enum(['refused', 'not-applicable']),
  }),
  /** A backup made after the sending does not open: the service did not take the key. */
  'key.refuted': z.object({ fingerprint: Fingerprint, run, backup: BackupName }),
  /** Stored by an operator; when it was in force is unknown. */
  'key.added': z.object({ fingerprint: Fingerprint, note: z.string().optional() }),
} as const;

type KeyEntryType = keyof typeof KEY_ENTRIES;
type KeyEntryBody<Type extends KeyEntryType> = z.infer<(typeof KEY_ENTRIES)[Type]>;

export type KeyFact = {
  [Type in KeyEntryType]: { readonly type: Type; readonly body: KeyEntryBody<Type> };
}[KeyEntryType];

const Named = z.object({ fingerprint: Fingerprint });

/**
 * Undefined for any other entry. A malformed body that names a fingerprint counts as `key.uncertain`: no key
 * of a ledger is left out, and nothing more is assumed.
 */
export function readKeyFact(entry: Pick<Entry, 'type' | 'body'>): KeyFact | undefined {
  if (!isKeyEntryType(entry.type)) return undefined;
  const whole = KEY_ENTRIES[entry.type].safeParse(entry.body);
  // The schema was looked up by the type, so they match; TypeScript cannot follow that.
  if (whole.success) return { type: entry.type, body: whole.data } as KeyFact;
  const named = Named.safeParse(entry.body);
  if (!named.success) return undefined;
  return { type: 'key.uncertain', body: { fingerprint: named.data.fingerprint, run: '' } };
}

export function isKeyEntryType(type: string): type is KeyEntryType {
  return Object.hasOwn(KEY_ENTRIES, type);
}
