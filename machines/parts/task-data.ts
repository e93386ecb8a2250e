import * as z from 'zod';
import { Failure } from '../../src/base/failure.ts';

/*
 * All of it is JSON, because all of it is journalled: keys appear as fingerprints only.
 *
 * Most of these schemas only give a type, so each is a function, and a start builds only those that it parses
 * with.
 */

export const Fingerprint = () => z.string().regex(/^[0-9a-f]{12}$/);

/** Characters of a key that is made here: 32 random bytes as base64url. */
export const GENERATED_KEY_LENGTH = 43;

/** A task that the service shows beside the one that was sent. */
export const TaskBeside = () =>
  z.object({
    id: z.number(),
    status: z.string(),
    triggeredAt: z.string().optional(),
    backup: z.number().optional(),
    restoredFrom: z.string().optional(),
  });
export type TaskBeside = z.infer<ReturnType<typeof TaskBeside>>;

/** Empty if no key was tried. */
export function opensWords({ opens }: Pick<BackupFacts, 'opens'>): string {
  if (opens === undefined) return '';
  if (opens.how === 'none') return '; NONE of the held keys opens it';
  return opens.how === 'verified'
    ? `; verified to its end with key ${opens.key}`
    : `; key ${opens.key} fits its first block, which is no proof`;
}

/** Service-api.md section 2.1. Texts are the service's own and untrusted. */
export const BackupFacts = () =>
  z.object({
    id: z.number(),
    backupId: z.string().optional(),
    status: z.string(),
    size: z.number().optional(),
    triggeredAt: z.string().optional(),
    startedAt: z.string().optional(),
    finishedAt: z.string().optional(),
    downloadable: z.boolean().optional(),
    /** How far its times lie ahead of the service's own clock, if they do: one of them is wrong. */
    aheadSeconds: z.number().optional(),
    /**
     * `verified` to its last byte, `fits` by its first block (no proof), or `none` of the held keys. Only in
     * lists to choose from.
     */
    opens: z.object({ how: z.enum(['verified', 'fits', 'none']), key: Fingerprint().optional() }).optional(),
    simulated: z.literal(true).optional(),
    /** Tasks in the list when it was waited for. */
    beside: z.array(TaskBeside()).optional(),
  });
export type BackupFacts = z.infer<ReturnType<typeof BackupFacts>>;

/** The operator's confirmation rests on it. If it changes, the confirmation is asked again. */
export const Baseline = () =>
  z.object({
    serviceId: z.string().optional(),
    state: z.string().optional(),
    /**
     * By the service's clock. A sign for `waitForInstance` that an action was begun, but no proof; it says
     * nothing about whether a confirmation still holds.
     */
    updatedAt: z.string().optional(),
    /** The maintenance updates that were offered, each as one text to compare. */
    updates: z.array(z.string()).optional(),
    /** Missing if no call reports it. */
    minKeyLength: z.number().optional(),
    newestBackup: z.number().optional(),
    runningTasks: z.array(z.number()),
    /** Missing if they were not read, or could not be. */
    runningRestores: z.array(z.number()).optional(),
    /** The restore that was triggered last, over or not; missing as above, or if there is none. */
    newestRestore: z.number().optional(),
  });
export type Baseline = z.infer<ReturnType<typeof Baseline>>;

export const PreflightFacts = () =>
  z.object({
    service: z.object({
      id: z.string().optional(),
      name: z.string().optional(),
      state: z.string().optional(),
      plan: z.string().optional(),
      /** A recovery is only possible into an instance of the same offering. */
      offering: z.string().optional(),
      tenant: z.string().optional(),
    }),
    baseline: Baseline(),
    retentionDays: z.number().optional(),
    minBackupCount: z.number().optional(),
    excludedFromAutoBackup: z.boolean().optional(),
    backupType: z.string().optional(),
    backups: z.object({ total: z.number(), done: z.number(), downloadable: z.number() }),
    newest: BackupFacts().optional(),
    keysHeld: z.array(Fingerprint()),
    /** The key the ledger believes to be in force. */
    currentKey: Fingerprint().optional(),
    keyStore: z.string(),
    /** Missing if the config asks for no sealed copies. */
    escrow: z.object({ places: z.array(z.string()), recipients: z.array(z.string()) }).optional(),
    tokenExpires: z.string().optional(),
    clockSkewSeconds: z.number().optional(),
    /** The facts that the instance's interface, called `by`, has no call for; missing for V1. */
    unsaid: z.object({ by: z.string(), what: z.array(z.string()) }).optional(),
    simulated: z.literal(true).optional(),
    warnings: z.array(z.string()),
    blockers: z.array(Failure()),
  });
export type PreflightFacts = z.infer<ReturnType<typeof PreflightFacts>>;

export const StoredKey = () =>
  z.object({
    fingerprint: Fingerprint(),
    length: z.number(),
    origin: z.enum(['generated', 'given']),
    store: z.string(),
  });
export type StoredKey = z.infer<ReturnType<typeof StoredKey>>;

/** `recipients` are age recipients. */
export const EscrowedKey = () =>
  z.object({ fingerprint: Fingerprint(), places: z.array(z.string()), recipients: z.array(z.string()) });
export type EscrowedKey = z.infer<ReturnType<typeof EscrowedKey>>;

/** `unknown` is KEY UNCERTAIN: only a new backup can tell. */
export const KeySetting = () =>
  z.object({
    answer: z.enum(['accepted', 'unknown']),
    status: z.number().optional(),
    failure: Failure().optional(),
  });
export type KeySetting = z.infer<ReturnType<typeof KeySetting>>;

/** `adopted`: the answer was lost, and the task was found in the service's list. */
export const Triggered = () =>
  z.discriminatedUnion('landed', [
    z.object({ landed: z.literal(true), id: z.number(), adopted: z.boolean() }),
    z.object({
      landed: z.literal(false),
      /** What came back in place of an answer. */
      lost: Failure().optional(),
      evidence: z.json().optional(),
    }),
  ]);
export type Triggered = z.infer<ReturnType<typeof Triggered>>;

/** Service-api.md section 2.2. `backup` is the id within the instance that it belongs to. */
export const RestoreFacts = () =>
  z.object({
    id: z.number(),
    status: z.string(),
    backup: z.number().optional(),
    /** When the backup was made, or the point in time that was chosen. */
    restoredFrom: z.string().optional(),
    triggeredAt: z.string().optional(),
    /** Revision 61 reports it (service-api.md section 3). */
    startedAt: z.string().optional(),
    /** If the service does not report it: when the run saw it leave the queue, by this machine's clock. */
    seenRunningAt: z.string().optional(),
    finishedAt: z.string().optional(),
    /** How far its end lay ahead of the service's own clock, if it did: one of them is wrong. */
    aheadSeconds: z.number().optional(),
    simulated: z.literal(true).optional(),
    /** Tasks in the list at the end of the restore. */
    beside: z.array(TaskBeside()).optional(),
  });
export type RestoreFacts = z.infer<ReturnType<typeof RestoreFacts>>;

/** `adopted`: the answer was lost, and the instance shows it. That it has not begun cannot be proven. */
export const Started = () => z.object({ landed: z.literal(true), adopted: z.boolean() });
export type Started = z.infer<ReturnType<typeof Started>>;

export const FoundOutside = () => z.object({ found: z.string() });
export type FoundOutside = z.infer<ReturnType<typeof FoundOutside>>;

/** Not landed: its own `landed` command says that it has not happened. */
export const StartedOutside = () =>
  z.discriminatedUnion('landed', [
    z.object({ landed: z.literal(true), adopted: z.boolean() }),
    z.object({ landed: z.literal(false), lost: Failure().optional(), evidence: z.json().optional() }),
  ]);
export type StartedOutside = z.infer<ReturnType<typeof StartedOutside>>;

export const InstanceReady = () =>
  z.object({
    state: z.string(),
    updatedAt: z.string().optional(),
    /** Maintenance updates that are still offered. */
    pendingUpdates: z.number().optional(),
    simulated: z.literal(true).optional(),
    /** How it is known that an action is over; undefined if only the state was asked for. */
    reason: z.string().optional(),
    /** Missing if no action was asked for. */
    seenDeploying: z.boolean().optional(),
  });
export type InstanceReady = z.infer<ReturnType<typeof InstanceReady>>;

/** `unknown` comes only with a key, and is KEY UNCERTAIN then, as for `setKey`. */
export const RecoveryPreparation = () =>
  KeySetting().extend({
    /** What `performRecovery` needs; the service may leave it out. */
    backupGuid: z.string().optional(),
  });
export type RecoveryPreparation = z.infer<ReturnType<typeof RecoveryPreparation>>;

/** Service-api.md section 2.3. A setting that is left out stays as it is. */
export const BackupSettings = () =>
  z.object({
    minBackupCount: z.number().optional(),
    retentionDays: z.number().optional(),
    excludedFromAutoBackup: z.boolean().optional(),
  });
export type BackupSettings = z.infer<ReturnType<typeof BackupSettings>>;

/** The settings after the change. `adopted`: the answer was lost, and they show that it was made. */
export const SettingsChange = () =>
  z.object({ answer: z.enum(['accepted', 'adopted']), settings: BackupSettings() });
export type SettingsChange = z.infer<ReturnType<typeof SettingsChange>>;

/** Service-api.md section 2.5; `type` is the service's own word. */
export const UpdateSetting = () => z.object({ type: z.string(), allowed: z.boolean() });
export type UpdateSetting = z.infer<ReturnType<typeof UpdateSetting>>;

export const DownloadedFile = () =>
  z.object({
    path: z.string(),
    bytes: z.number(),
    sha256: z.string(),
    seconds: z.number(),
    /** By a look from outside; `whole` proves nothing yet. Undefined in runs of an earlier version. */
    verdict: z.enum(['whole', 'other-size', 'size-unknown', 'not-encrypted']).optional(),
    /** The size that the service lists. Bytes. */
    listed: z.number().optional(),
  });
export type DownloadedFile = z.infer<ReturnType<typeof DownloadedFile>>;

/** Which of the held keys opens a file, and what a full read of it showed. */
export const Verification = () =>
  z.object({
    opens: Fingerprint(),
    verdict: z.enum(['intact', 'readable']),
    profile: z.string(),
    content: z.string(),
    entries: z.number().optional(),
    cipherBytes: z.number(),
    cipherSha256: z.string(),
    contentBytes: z.number(),
    contentSha256: z.string(),
    seconds: z.number(),
    /** The newest backup proven before, if it held over twice as much (bytes): much may be missing. */
    shrunkFrom: z.object({ id: z.number(), contentBytes: z.number() }).optional(),
  });
export type Verification = z.infer<ReturnType<typeof Verification>>;

/** No other key may open the file. */
export const NegativeTest = () =>
  z.object({
    tested: z.array(Fingerprint()),
    opened: z.array(Fingerprint()),
  });
export type NegativeTest = z.infer<ReturnType<typeof NegativeTest>>;

export const RotationRecord = () =>
  z.object({
    fingerprint: Fingerprint(),
    backup: BackupFacts(),
    verification: Verification(),
    negative: NegativeTest().optional(),
    /** True if the answer was lost and the backup shows that the key was set: the ledger then learns it. */
    closes: z.boolean(),
    /** Days, if the caller knows them; else the service is asked. */
    retentionDays: z.number().optional(),
  });
export type RotationRecord = z.infer<ReturnType<typeof RotationRecord>>;

export const Recorded = () =>
  z.object({
    fingerprint: Fingerprint(),
    proven: z.boolean(),
    /** Follow-ups in the ledger since then, one line each; missing in older records. */
    leaves: z.array(z.string()).optional(),
    /** Tasks that the last look at the list of backups showed beside the one that was sent. */
    beside: z.array(TaskBeside()).optional(),
    /** Why there was no such look. */
    unlooked: z.string().optional(),
  });
export type Recorded = z.infer<ReturnType<typeof Recorded>>;

/** The state of the current send of a task (`machines/send.ts`). */
export const SendEnd = () =>
  z.discriminatedUnion('is', [
    z.object({ is: z.literal('open') }),
    /** The answer was lost, and its outcome is still unknown. */
    z.object({ is: z.literal('in-doubt') }),
    z.object({
      /** Proven not to have arrived: what came back, and what the service's list showed then. */
      is: z.literal('absent'),
      lost: Failure().optional(),
      evidence: z.json().optional(),
    }),
    z.object({ is: z.literal('landed'), id: z.number(), adopted: z.boolean() }),
  ]);
export type SendEnd = z.infer<ReturnType<typeof SendEnd>>;

/** Undefined until it has landed. */
export function landedOf({ send }: { readonly send: SendEnd }) {
  return send.is === 'landed' ? send : undefined;
}

/** Failures that prove that a call had no effect, so it can be sent again. */
const ABSENCES: ReadonlySet<string> = new Set(['service.never-arrived', 'command.not-landed']);

export function isAbsence(failure: Failure | undefined): boolean {
  return failure !== undefined && ABSENCES.has(failure.code);
}
