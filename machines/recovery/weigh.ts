import type { Failure } from '../parts/failure.ts';
import { instantOf } from '../parts/instant.ts';
import { leftUnbound, type Obligation, stillOwed } from '../parts/obligation.ts';
import type { Duties, ProvenBackup, Side } from '../parts/recovery-verbs.ts';
import type { RecoveryContext } from './context.ts';

/* What the guards of the recoveries look at. Pure functions of the context. */

/** The instance that a restore of this run changes. */
export function restoredSide({ mode }: RecoveryContext): Side {
  return mode === undefined ? undefined : 'target';
}

/** The name of the instance that a restore of this run changes. */
export function restoredName(context: RecoveryContext): string {
  return restoredSide(context) === 'target' ? (context.target ?? '') : context.instance;
}

/** What is still owed and can be done by the platform or its tool. */
export function payableByPlatform({ obligations }: RecoveryContext): readonly Obligation[] {
  return stillOwed(obligations).filter(({ payable }) => payable === 'platform' || payable === 'cf');
}

/** What can wait until everything else is done, and what only a person can do. */
const LAST = ['remove-target', 'old-binding'];

/** Whether a failure is about the platform as a whole, so that the next application would meet it as well. */
export function isForAll({ code }: Failure): boolean {
  return code === 'platform.busy' || code === 'platform.unreachable';
}

/** The next of them in a row of payments: one that has failed in it waits for a person. */
export function nextPayable(context: RecoveryContext): Obligation | undefined {
  return payableByPlatform(context).find(({ id }) => !context.stuck.includes(id));
}

/** Whether nothing but the run itself stands between now and what can wait: a fresh backup, a card. */
export function isOwedByRunOnly({ obligations }: RecoveryContext): boolean {
  const owed = stillOwed(obligations).filter(({ kind }) => !LAST.includes(kind));
  return owed.length > 0 && owed.every(({ payable }) => payable === 'run');
}

export function isOwed({ obligations }: RecoveryContext, id: string | undefined): boolean {
  return stillOwed(obligations).some((obligation) => obligation.id === id);
}

/** The application whose rebinding is being worked on. */
export function paidApp(context: RecoveryContext) {
  const { duties, paying } = context;
  return duties?.apps.find(({ key }) => rebindId(key) === paying);
}

export function paidKey({ duties, paying }: RecoveryContext) {
  return duties?.keys.find(({ name }) => serviceKeyId(name) === paying);
}

export function rebindId(key: string): string {
  return `rebind-${key}`;
}

export function serviceKeyId(name: string): string {
  return `service-key-${name}`;
}

/** Nothing older than this is taken for a binding to the restored data. */
export function notBefore({ restore, duties }: RecoveryContext): string {
  return restore.restore?.finishedAt ?? duties?.foundAt ?? '';
}

/** The platform's instance that applications are bound to after the restore. */
export function platformInstance(context: RecoveryContext) {
  return context.duties?.to ?? { guid: '', name: restoredName(context) };
}

export function bindsBeside({ duties }: { readonly duties?: Duties | undefined }): boolean {
  return duties?.order === 'no-downtime';
}

/** Whether a time lies within what can be reached, both edges included. */
export function isReachable({ range }: Pick<RecoveryContext, 'range'>, time: string | undefined): boolean {
  const [at, earliest, latest] = [time, range?.earliest, range?.latest].map(instantOf);
  if (at === undefined || earliest === undefined || latest === undefined) return false;
  return earliest <= at && at <= latest;
}

/** How far the restore is from the time that was asked for, as a sentence; none when it is not, or when it is not told. */
export function restoredElsewhen({ time, restore }: RecoveryContext): string | undefined {
  const asked = instantOf(time);
  const from = instantOf(restore.restore?.restoredFrom);
  if (asked === undefined || from === undefined || Math.abs(asked - from) <= 1000) return undefined;
  return `the service says that it restored to ${restore.restore?.restoredFrom}, not to ${time}`;
}

/** Whether this run shows that the data is back: the service says so of the restore and of the instance. */
export function isRestored({ restore, ready }: RecoveryContext): boolean {
  return restore.restore?.status === 'done' && restore.outside === undefined && ready !== undefined;
}

/** The same, and that everything that used the data before runs on it again. */
export function isRecovered(context: RecoveryContext): boolean {
  return isRestored(context) && leftUnbound(context.obligations).length === 0;
}

/** What `isRestored` tells of a restore, for an action of the instance. */
export function hasActed({ act, ready }: RecoveryContext): boolean {
  return act.landed !== undefined && act.outside === undefined && ready !== undefined;
}

/** The backup that the ledger has on record as proven, by its id within the instance. */
export function provenOnRecord({ onRecord, facts }: RecoveryContext): ProvenBackup | undefined {
  const { newest } = facts ?? {};
  return onRecord?.proven.find(
    ({ id, backupId }) => id === newest?.id && (backupId === undefined || backupId === newest.backupId),
  );
}

/** Whether the ids of the instance's backups begin with the guid (domain: cross-check); undefined when none tells. */
export function agreesWithIds({ guid, facts }: RecoveryContext): boolean | undefined {
  return isGuidOf(guid, facts?.newest?.backupId);
}

/** Whether a backup's id begins with a guid; undefined when either is missing or the id has another form. */
export function isGuidOf(guid: string | undefined, backupId: string | undefined): boolean | undefined {
  const [, prefix] = GUID_AND_TIME.exec(backupId ?? '') ?? [];
  if (guid === undefined || prefix === undefined) return undefined;
  return prefix.toLowerCase() === guid.toLowerCase();
}

/** What the Backup Manager makes its ids of (domain 1.2); an id of another form says nothing about the guid. */
const GUID_AND_TIME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d+$/i;

/** The first of the target's blockers that nobody has overridden. */
export function openBlocker({ targetFacts, overridden }: RecoveryContext) {
  return targetFacts?.blockers.find(({ code }) => !overridden.includes(code));
}

/** Whether nobody may override a blocker: the data of the source would be lost, or could not be read. */
export function isNeverPassed({ code }: Failure): boolean {
  return code === 'target.is-source' || code === 'target.other-service';
}
