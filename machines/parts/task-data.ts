import * as z from 'zod';
import { Failure } from '../../src/base/failure.ts';

/*
 * The data that the verbs in `machines/verbs.ts` take and give. All of it is JSON, because all of it is
 * journalled: keys appear as fingerprints only.
 *
 * Most of these schemas only give a type. So each is a function, and a start builds none that it does not
 * parse with.
 */

export const Fingerprint = () => z.string().regex(/^[0-9a-f]{12}$/);

/** Characters of a key that is made here: 32 random bytes as base64url. */
export const GENERATED_KEY_LENGTH = 43;

/** A task that the service shows beyond what was sent. */
export const TaskBeside = () =>
  z.object({
    id: z.number(),
    status: z.string(),
    triggeredAt: z.string().optional(),
    /** Which backup a restore brings back. */
    backup: z.number().optional(),
    restoredFrom: z.string().optional(),
  });
export type TaskBeside = z.infer<ReturnType<typeof TaskBeside>>;

/** What is known of the key of a backup, for its choice; nothing where none was tried. */
export function opensWords({ opens }: Pick<BackupFacts, 'opens'>): string {
  if (opens === undefined) return '';
  if (opens.how === 'none') return '; NONE of the held keys opens it';
  return opens.how === 'verified'
    ? `; verified to its end with key ${opens.key}`
    : `; key ${opens.key} fits its first block, which is no proof`;
}

/** A backup as the flow needs it (service-api.md section 2.1). Texts are the service's own and untrusted. */
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
    /** By how much its times lie in the future of the service's own clock, where they do: one is wrong. */
    aheadSeconds: z.number().optional(),
    /**
     * Which key opens it, as far as that was tried: `verified` to its last byte, `fits` by its first block,
     * which is no proof, or `none` of the held keys. Only in a list from which one is chosen.
     */
    opens: z.object({ how: z.enum(['verified', 'fits', 'none']), key: Fingerprint().optional() }).optional(),
    /** The service says of itself that it is simulated: there is no data behind it. */
    simulated: z.literal(true).optional(),
    /** What the list showed beyond what was sent, when it was waited for. */
    beside: z.array(TaskBeside()).optional(),
  });
export type BackupFacts = z.infer<ReturnType<typeof BackupFacts>>;

/**
 * What the operator's confirmation rests on. When one of these has changed, the confirmation is asked again.
 */
export const Baseline = () =>
  z.object({
    serviceId: z.string().optional(),
    state: z.string().optional(),
    /**
     * When the service last changed the instance, by its own clock. A sign for `waitForInstance` that an
     * action was begun, and no proof; it says nothing about whether a confirmation still holds.
     */
    updatedAt: z.string().optional(),
    /** The maintenance updates that were offered, each as one text to compare. */
    updates: z.array(z.string()).optional(),
    /** Missing where the interface has no call that says it. */
    minKeyLength: z.number().optional(),
    newestBackup: z.number().optional(),
    runningTasks: z.array(z.number()),
    /** Restores in progress; missing if they were not read, or could not be. */
    runningRestores: z.array(z.number()).optional(),
    /** The restore that was triggered last, over or not; missing as above, and where there is none. */
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
      /** Id of the service offering: a recovery is only possible into an instance of the same. */
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
    /** What the config asks of sealed copies; missing where it asks for none. */
    escrow: z.object({ places: z.array(z.string()), recipients: z.array(z.string()) }).optional(),
    tokenExpires: z.string().optional(),
    clockSkewSeconds: z.number().optional(),
    /**
     * What the instance's interface has no call for, and what that interface is called; missing for V1, which
     * says all of it.
     */
    unsaid: z.object({ by: z.string(), what: z.array(z.string()) }).optional(),
    /** The service says of itself that it is simulated: there is no data behind it. */
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

/** The sealed copies of a key: in which places, and to which age recipients. */
export const EscrowedKey = () =>
  z.object({ fingerprint: Fingerprint(), places: z.array(z.string()), recipients: z.array(z.string()) });
export type EscrowedKey = z.infer<ReturnType<typeof EscrowedKey>>;

/** The answer to a change of the key. `unknown` is KEY UNCERTAIN: only a new backup can tell. */
export const KeySetting = () =>
  z.object({
    answer: z.enum(['accepted', 'unknown']),
    status: z.number().optional(),
    failure: Failure().optional(),
  });
export type KeySetting = z.infer<ReturnType<typeof KeySetting>>;

/**
 * A backup or restore was triggered, or is proven not to have been. `adopted`: found in the service's list,
 * its answer was lost.
 */
export const Triggered = () =>
  z.discriminatedUnion('landed', [
    z.object({ landed: z.literal(true), id: z.number(), adopted: z.boolean() }),
    z.object({
      landed: z.literal(false),
      /** What came back for an answer, where anything did. */
      lost: Failure().optional(),
      /** What the service's list showed then. */
      evidence: z.json().optional(),
    }),
  ]);
export type Triggered = z.infer<ReturnType<typeof Triggered>>;

/**
 * A restore as the flow needs it (service-api.md section 2.2). `backup` is the backup's id within the
 * instance it belongs to.
 */
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
    /**
     * Where the service does not report it: when the run first saw it at work after having seen it queued, by
     * this machine's clock.
     */
    seenRunningAt: z.string().optional(),
    finishedAt: z.string().optional(),
    /** By how much its end lay in the future of the service's own clock, where it did: one is wrong. */
    aheadSeconds: z.number().optional(),
    /** The service says of itself that it is simulated: there is no data behind it. */
    simulated: z.literal(true).optional(),
    /** What the list showed beyond what was sent, at the end of the restore. */
    beside: z.array(TaskBeside()).optional(),
  });
export type RestoreFacts = z.infer<ReturnType<typeof RestoreFacts>>;

/**
 * An action of the instance has begun. `adopted`: the instance shows it, the answer was lost. Whether it has
 * not begun cannot be proven.
 */
export const Started = () => z.object({ landed: z.literal(true), adopted: z.boolean() });
export type Started = z.infer<ReturnType<typeof Started>>;

/** What was found outside of the service, in words. */
export const FoundOutside = () => z.object({ found: z.string() });
export type FoundOutside = z.infer<ReturnType<typeof FoundOutside>>;

/** A command that is run once: it has happened, or its own question says that it has not. */
export const StartedOutside = () =>
  z.discriminatedUnion('landed', [
    z.object({ landed: z.literal(true), adopted: z.boolean() }),
    z.object({ landed: z.literal(false), lost: Failure().optional(), evidence: z.json().optional() }),
  ]);
export type StartedOutside = z.infer<ReturnType<typeof StartedOutside>>;

/** The instance after an action: in a steady state again. */
export const InstanceReady = () =>
  z.object({
    state: z.string(),
    updatedAt: z.string().optional(),
    /** Maintenance updates that are still offered. */
    pendingUpdates: z.number().optional(),
    /** The service says of itself that it is simulated: there is no data behind it. */
    simulated: z.literal(true).optional(),
    /** How it is known that an action is over, in words; undefined where only the state was asked for. */
    reason: z.string().optional(),
    /** Whether it was seen deploying while it was waited for; missing where no action was asked for. */
    seenDeploying: z.boolean().optional(),
  });
export type InstanceReady = z.infer<ReturnType<typeof InstanceReady>>;

/**
 * The answer to `prepareRecovery`. `unknown` comes only with a key, and is KEY UNCERTAIN then, as for
 * `setKey`.
 */
export const RecoveryPreparation = () =>
  KeySetting().extend({
    /** What `performRecovery` needs; the service may leave it out. */
    backupGuid: z.string().optional(),
  });
export type RecoveryPreparation = z.infer<ReturnType<typeof RecoveryPreparation>>;

/**
 * The settings of backups that may be changed (service-api.md section 2.3); a setting that is left out stays
 * as it is.
 */
export const BackupSettings = () =>
  z.object({
    minBackupCount: z.number().optional(),
    retentionDays: z.number().optional(),
    excludedFromAutoBackup: z.boolean().optional(),
  });
export type BackupSettings = z.infer<ReturnType<typeof BackupSettings>>;

/**
 * The settings as the service shows them after the change. `adopted`: the answer was lost, and they show that
 * it was made.
 */
export const SettingsChange = () =>
  z.object({ answer: z.enum(['accepted', 'adopted']), settings: BackupSettings() });
export type SettingsChange = z.infer<ReturnType<typeof SettingsChange>>;

/** Whether maintenance updates are allowed (service-api.md section 2.5); `type` is the service's own word. */
export const UpdateSetting = () => z.object({ type: z.string(), allowed: z.boolean() });
export type UpdateSetting = z.infer<ReturnType<typeof UpdateSetting>>;

export const DownloadedFile = () =>
  z.object({
    path: z.string(),
    bytes: z.number(),
    sha256: z.string(),
    seconds: z.number(),
    /** What a look from outside says; `whole` proves nothing yet. Undefined in runs of an earlier version. */
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
    /**
     * The newest backup that was proven before, where it held more than twice as much: much may be missing in
     * this one. Bytes of content.
     */
    shrunkFrom: z.object({ id: z.number(), contentBytes: z.number() }).optional(),
  });
export type Verification = z.infer<ReturnType<typeof Verification>>;

/** Which other keys were tried on the file, and which of them opened it: none may. */
export const NegativeTest = () =>
  z.object({
    tested: z.array(Fingerprint()),
    opened: z.array(Fingerprint()),
  });
export type NegativeTest = z.infer<ReturnType<typeof NegativeTest>>;

/** What `recordRotation` writes into the instance's ledger. */
export const RotationRecord = () =>
  z.object({
    fingerprint: Fingerprint(),
    backup: BackupFacts(),
    verification: Verification(),
    negative: NegativeTest().optional(),
    /** True when the answer was lost and the backup shows that the key was set: the ledger then learns it. */
    closes: z.boolean(),
    /** How long the service keeps backups, when the caller knows; else the service is asked. Days. */
    retentionDays: z.number().optional(),
  });
export type RotationRecord = z.infer<ReturnType<typeof RotationRecord>>;

export const Recorded = () =>
  z.object({
    fingerprint: Fingerprint(),
    proven: z.boolean(),
    /** What the ledger has as follow-ups since then, each in one line; missing in older records. */
    leaves: z.array(z.string()).optional(),
    /** What the last look at the list of backups showed beyond what was sent. */
    beside: z.array(TaskBeside()).optional(),
    /** Why there was no such look. */
    unlooked: z.string().optional(),
  });
export type Recorded = z.infer<ReturnType<typeof Recorded>>;

/** What a run knows of the current send of a task (`machines/send.ts`), as its verb ended. */
export const SendEnd = () =>
  z.discriminatedUnion('is', [
    z.object({ is: z.literal('open') }),
    /** The answer was lost, and nothing has shown since what became of it. */
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

/** Which task the current send became; undefined until it has landed. */
export function landedOf({ send }: { readonly send: SendEnd }) {
  return send.is === 'landed' ? send : undefined;
}

/** Codes of failures that say of a call: nothing came of it. Nothing failed either: it can be sent again. */
const ABSENCES: ReadonlySet<string> = new Set(['service.never-arrived', 'command.not-landed']);

/** Whether a failure is the absence of a call, proven by what the service shows. */
export function isAbsence(failure: Failure | undefined): boolean {
  return failure !== undefined && ABSENCES.has(failure.code);
}
