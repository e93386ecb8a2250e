import { formatSpan } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import {
  type BackupStatus,
  type InstanceFacts,
  type KeyStatus,
  knownOf,
  type ListedBackup,
  type Part,
  type ProvenStatus,
  type Reason,
  type Verdict,
  type WindowStatus,
} from './fleet-facts.ts';
import { keysOfBackup } from './key-of-backup.ts';

/** What the verdicts are made of. Ages in seconds. */
export interface Known {
  readonly facts: InstanceFacts;
  readonly newest: BackupStatus | undefined;
  readonly window: WindowStatus | undefined;
  readonly key: KeyStatus;
  /** The backups that were opened to their last byte, those that the service still lists first. */
  readonly opened: readonly ProvenStatus[];
}

/**
 * Damaged data: could a backup, or a point in time, be brought back into the instance itself, within its RPO?
 * The service holds the key for that. A proof is asked for all the same, because a backup that nobody ever
 * opened may be damaged.
 */
export function inPlace(known: Known): Verdict {
  const { facts, newest, window } = known;
  const recent = window !== undefined && window.meetsRpo === true;
  return verdictOf([
    ...unanswered('the instance', facts.overview),
    ...stateReasons(knownOf(facts.overview)?.state),
    ...unanswered('the list of backups', facts.backups),
    ...(facts.backups.state === 'known' ? backupReasons(newest, facts.objectives.rpo, recent) : []),
    ...unanswered('the journal', facts.record),
    ...proofReasons(known),
    ...doubtReasons(facts),
  ]);
}

/**
 * A lost instance: could its newest backup be brought into another one, within its RPO? That takes what is
 * kept here: a recovery card and the key. The source need not answer, but then the age of its newest backup
 * is not known. Without a card the id of a backup may do, which is never a yes.
 */
export function elsewhere(known: Known): Verdict {
  const { facts, newest } = known;
  return verdictOf([
    ...unanswered('the journal', facts.record),
    ...cardReasons(known),
    ...keyReasons(known),
    ...unanswered('the list of backups', facts.backups),
    ...(facts.backups.state === 'known' ? backupReasons(newest, facts.objectives.rpo, false) : []),
    ...downloadReasons(newest),
    ...proofReasons(known),
  ]);
}

/** The worst of both: no, then unknown, then yes. Each reason once. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const reasons = verdicts.flatMap((verdict) => verdict.reasons);
  return verdictOf(reasons.filter((one, at) => reasons.findIndex(({ code }) => code === one.code) === at));
}

function verdictOf(reasons: readonly Reason[]): Verdict {
  const no = reasons.filter(({ answer }) => answer === 'no');
  const unknown = reasons.filter(({ answer }) => answer === 'unknown');
  const answer = no.length > 0 ? 'no' : unknown.length > 0 ? 'unknown' : 'yes';
  return { answer, reasons: [...no, ...unknown] };
}

function no(code: string, text: string): Reason {
  return { answer: 'no', code, text };
}

function unknown(code: string, text: string): Reason {
  return { answer: 'unknown', code, text };
}

/** What the interface has no call for is no reason: V0 says nothing about the instance itself. */
function unanswered(what: string, part: Part<unknown>): Reason[] {
  if (part.state === 'failed') return [unknown(part.code, `${what} could not be read: ${part.why}`)];
  return part.state === 'unasked' ? [unknown(`unasked.${what}`, `${what} was not asked for`)] : [];
}

function stateReasons(state: string | undefined): Reason[] {
  if (state === 'deleted') return [no('instance.state', 'the instance is deleted')];
  if (state === 'failed' || state === 'deploying')
    return [unknown('instance.state', `the instance is ${state}`)];
  return [];
}

function backupReasons(
  newest: BackupStatus | undefined,
  rpo: number | undefined,
  isWindowRecent: boolean,
): Reason[] {
  if (newest === undefined) return [no('backup.none', 'there is no backup that is done')];
  if (rpo === undefined || isWindowRecent || newest.meetsRpo === true) return [];
  if (newest.ageSeconds === undefined)
    return [unknown('backup.age', 'the service does not say how old the newest backup is')];
  const [age, limit] = [formatSpan(newest.ageSeconds), formatSpan(rpo / 1000)];
  return [no('backup.too-old', `the newest backup is ${age} old, and the RPO is ${limit}`)];
}

function proofReasons({ facts, newest, key, opened }: Known): Reason[] {
  if (facts.record.state !== 'known') return [];
  if (knownOf(facts.record)?.ledger.proven.length === 0)
    return [unknown('backup.unproven', 'no backup of it was ever opened and read to its last byte')];
  if (newest === undefined) return [];
  if (facts.backups.state === 'known' && opened[0]?.isListed !== true)
    return [unknown('backup.proof-gone', 'the service no longer lists any backup that was proven')];
  if (key.possible.length > 0 && !key.isProven)
    return [unknown('key.unproven', 'no backup was proven with the key of the newest one')];
  return [];
}

/** A recovery is sent with the guid of the card, or with the id of one backup in its place (domain 1.6). */
function cardReasons({ facts, opened }: Known): Reason[] {
  if (facts.record.state !== 'known' || facts.record.value.ledger.card !== undefined) return [];
  const proven = opened.find(
    ({ backupId, isListed, key }) => backupId !== undefined && isListed !== false && mayBeHeld(facts, key),
  );
  if (proven !== undefined) {
    const isKept = proven.isListed === true ? '' : ', if the service still keeps it';
    return [withoutCard(proven, 'could', ` with key ${proven.key}, which has opened it${isKept}`)];
  }
  const listed = (knownOf(facts.backups)?.done ?? facts.seen?.backups)?.find(
    (backup) => backup.backupId !== undefined && mayHaveKey(facts, backup),
  );
  if (listed !== undefined) return [withoutCard(listed, 'might', ', but it was never opened')];
  return [no('card.none', 'there is no recovery card, so a lost instance could not be recovered elsewhere')];
}

function withoutCard({ id, backupId = '' }: ListedBackup, how: 'could' | 'might', more: string): Reason {
  const by = `backup ${id} ${how} be recovered by its id ${show(backupId, 80)}${more}`;
  return unknown('card.none', `there is no recovery card; ${by}`);
}

function mayHaveKey(facts: InstanceFacts, backup: ListedBackup): boolean {
  const { skewMs } = knownOf(facts.backups) ?? {};
  const ledger = knownOf(facts.record)?.ledger ?? { epochs: [], proven: [] };
  return keysOfBackup(ledger, backup, skewMs).some(({ fingerprint }) => mayBeHeld(facts, fingerprint));
}

/** A key store that cannot be read is a reason of its own. */
function mayBeHeld({ held }: InstanceFacts, fingerprint: string): boolean {
  return knownOf(held)?.includes(fingerprint) !== false;
}

function keyReasons({ facts, key }: Known): Reason[] {
  if (facts.record.state !== 'known') return [];
  if (key.possible.length === 0)
    return [unknown('key.unknown', 'the journal does not say which key the newest backup has')];
  if (facts.held.state !== 'known') return unanswered('the key store', facts.held);
  const missing = key.possible.filter(({ isHeld }) => isHeld === false).map(({ fingerprint }) => fingerprint);
  if (missing.length === 0) return [];
  const names = missing.join(', ');
  return missing.length === key.possible.length
    ? [no('key.not-held', `the key of the newest backup is not in the key store: ${names}`)]
    : [unknown('key.not-held', `a key that the newest backup may have is not in the key store: ${names}`)];
}

function downloadReasons(newest: BackupStatus | undefined): Reason[] {
  if (newest?.downloadable !== false) return [];
  const text = 'the newest backup cannot be downloaded, so nothing shows that it has a key that is held here';
  return [unknown('backup.not-downloadable', text)];
}

function doubtReasons({ record }: InstanceFacts): Reason[] {
  const [first] = knownOf(record)?.inDoubt ?? [];
  if (first === undefined) return [];
  return [unknown('call.in-doubt', `the outcome of a call to it is not known: ${first.verb}`)];
}
