import { verbTo } from '../../../machines/parts/verb-words.ts';
import { counted, formatSpan, futureWords } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { type InstanceFacts, knownOf, type Part } from './fleet-facts.ts';
import { keysOfBackup, nameOf, newestOpener, opennessOf } from './openers.ts';
import type {
  BackupStatus,
  InstanceStatus,
  ListedBackup,
  OpenerStatus,
  ProvenStatus,
  Reason,
  Verdict,
  WindowStatus,
} from './status-schema.ts';

/** Ages in seconds. */
export interface Known {
  readonly facts: InstanceFacts;
  /** Newest first; the last list if there is no answer now. Undefined if neither is known. */
  readonly done: readonly BackupStatus[] | undefined;
  readonly down: InstanceStatus['down'];
  readonly notFound: InstanceStatus['notFound'];
  readonly window: WindowStatus | undefined;
  /** Read to the last byte; those that the service still lists first. */
  readonly opened: readonly ProvenStatus[];
}

/**
 * Restoring a backup into the instance itself. The service holds the key, but the backup must be known to
 * open: one that was never opened may be damaged, or encrypted with another key than the current one.
 */
export function inPlace(known: Known): Verdict {
  const { facts } = known;
  return verdictOf([
    ...unanswered('the instance', facts.overview),
    ...stateReasons(knownOf(facts.overview)?.state),
    ...unanswered('the list of backups', facts.backups),
    ...(facts.backups.state === 'known' ? openerReasons(known, 'in place') : []),
    ...unanswered('the journal', facts.record),
    ...doubtReasons(facts),
  ]);
}

/**
 * Restoring a backup of a lost instance into another one, with the recovery card and key kept here. If the
 * source does not answer, its last list counts. Without a card the id of a backup may suffice, which is never
 * a yes.
 */
export function elsewhere(known: Known): Verdict {
  const { facts, done, down, notFound } = known;
  const isSeen = (down !== undefined || notFound !== undefined) && done !== undefined;
  return verdictOf([
    ...unanswered('the journal', facts.record),
    ...cardReasons(known),
    ...(facts.held.state === 'failed' ? unanswered('the key store', facts.held) : []),
    ...(isSeen ? [] : unanswered('the list of backups', facts.backups)),
    ...(isSeen || facts.backups.state === 'known' ? openerReasons(known, 'elsewhere') : []),
  ]);
}

/** Undefined without an RPO. In place, a point in time may meet it; elsewhere only a backup. */
export function withinObjectives(known: Known): Verdict | undefined {
  const { facts, window } = known;
  const { rpo } = facts.objectives;
  if (rpo === undefined) return undefined;
  const opener = newestOpener(facts, known.done ?? []);
  const limit = `the RPO is ${formatSpan(rpo / 1000)}`;
  if (opener === undefined)
    return verdictOf([unknown('objective.no-backup', `no backup is known to open, and ${limit}`)]);
  if (opener.aheadSeconds !== undefined) return verdictOf([unknown('backup.future', futureBackup(opener))]);
  if (opener.meetsRpo === undefined)
    return verdictOf([unknown('backup.age', 'the service does not say how old the newest backup is')]);
  if (opener.meetsRpo) return verdictOf([]);
  const newest = `${nameOf(opener)}, is the newest that opens, and ${limit}`;
  const text = window?.meetsRpo === true ? `${newest}: only a point-in-time restore keeps it` : newest;
  return verdictOf([no('backup.too-old', text)]);
}

/** For applications, as far as is known here. */
export function inService({ facts, down, notFound }: Known): Verdict {
  const { overview, record, disk } = facts;
  const reasons: Reason[] = [];
  if (down !== undefined) reasons.push(no('instance.down', `it does not answer: ${down.why}`));
  else if (notFound !== undefined)
    reasons.push(no('instance.not-found', `its address knows no such instance: ${notFound.why}`));
  else if (overview.state !== 'missing') reasons.push(...unanswered('the instance', overview));
  const state = knownOf(overview)?.state;
  if (state !== undefined && OUT_OF_SERVICE.has(state)) reasons.push(no('instance.state', `it is ${state}`));
  if (state === 'deploying') reasons.push(unknown('instance.state', 'it is deploying'));
  const filled = knownOf(disk);
  if (typeof filled === 'object' && filled.isOpen)
    reasons.push(no('disk.stopped', 'the parachute of a disk is open: the node is stopped'));
  const waiting = (knownOf(record)?.followUps ?? []).filter(
    ({ kind, closed }) => closed === undefined && (kind === 'rebind' || kind === 'service-key'),
  );
  if (waiting.length > 0) {
    const names = waiting.slice(0, 3).map(({ subject }) => show(subject, 40));
    const more = waiting.length > names.length ? ` and ${waiting.length - names.length} more` : '';
    const what = counted(waiting.length, 'application or key waits', 'applications or keys wait');
    reasons.push(no('follow-ups.locked-out', `${what} to be bound again: ${names.join(', ')}${more}`));
  }
  return verdictOf(reasons);
}

const OUT_OF_SERVICE: ReadonlySet<string> = new Set(['deleted', 'failed', 'stopped']);

/** The backup that a recovery would take now. */
export function openerOf({ facts, done = [] }: Pick<Known, 'facts' | 'done'>): OpenerStatus | undefined {
  const opener = newestOpener(facts, done);
  if (opener === undefined) return undefined;
  const { id, triggeredAt, ageSeconds, meetsRpo, openness } = opener;
  return { id, triggeredAt, ageSeconds, meetsRpo, ...openness };
}

export function futureBackup({ id, aheadSeconds = 0 }: Pick<BackupStatus, 'id' | 'aheadSeconds'>): string {
  return `backup ${id} is ${futureWords(aheadSeconds)}`;
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

/** A missing call is no reason: V0 says nothing about the instance itself. */
function unanswered(what: string, part: Part<unknown>): Reason[] {
  if (part.state === 'failed') return [unknown(part.code, `${what} could not be read: ${part.why}`)];
  return part.state === 'unasked' ? [unknown(`unasked.${what}`, `${what} was not asked for`)] : [];
}

function stateReasons(state: string | undefined): Reason[] {
  if (state === 'deleted') return [no('instance.state', 'the instance is deleted')];
  if (state === 'failed' || state === 'deploying' || state === 'stopped')
    return [unknown('instance.state', `the instance is ${state}`)];
  return [];
}

/**
 * Empty if the newest backup opens, or another one that meets the RPO. An older one that opens is mentioned,
 * but is no yes: the newest data may be lost.
 */
function openerReasons({ facts, done = [] }: Known, way: 'in place' | 'elsewhere'): Reason[] {
  const [newest] = done;
  if (newest === undefined) return [no('backup.none', 'there is no backup that is done')];
  const opener = newestOpener(facts, done, way === 'elsewhere');
  if (opener !== undefined && (opener.id === newest.id || opener.meetsRpo === true)) return [];
  const found = opennessOf(facts, newest, way === 'elsewhere');
  if ('key' in found) return [];
  if (opener !== undefined) return [unknown(found.code, `${found.why}; ${nameOf(opener)}, opens`)];
  const all = done.map((backup) => opennessOf(facts, backup, way === 'elsewhere'));
  const isHopeless = all.every((one) => one.how === 'not' && (way === 'elsewhere' || !one.isKeyMissing));
  if (!isHopeless) return [unknown(found.code, found.why)];
  const others = done.length - 1;
  return [no(found.code, others === 0 ? found.why : `${found.why}; nor does any older one open`)];
}

/** A recovery is sent with the GUID of the card, or with the id of one backup (domain 1.6). */
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

/** An unreadable key store is a reason of its own. */
function mayBeHeld({ held }: InstanceFacts, fingerprint: string): boolean {
  return knownOf(held)?.includes(fingerprint) !== false;
}

function doubtReasons({ record }: InstanceFacts): Reason[] {
  const [first] = knownOf(record)?.inDoubt ?? [];
  if (first === undefined) return [];
  return [
    unknown(
      'call.in-doubt',
      `the outcome of a call to it is not known: to ${verbTo(first.verb, first.input)}`,
    ),
  ];
}
