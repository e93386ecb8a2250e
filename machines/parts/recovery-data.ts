import * as z from 'zod';
import { Failure } from '../../src/base/failure.ts';
import { BackupFacts, Fingerprint } from './task-data.ts';

/*
 * The same for the recoveries: backups that can be restored, recovery cards, targets, bound applications. No
 * secret is in it.
 */

/** Which instance of the run a verb is performed on; its own without it. */
export type Side = 'target' | undefined;

/**
 * The range of a point-in-time restore as the service tells it (service-api.md section 2.7), and when it was
 * asked. Between `earliest` and `latest` a restore is safe: a margin is taken off, and a short range leaves
 * nothing between them. RFC 3339.
 */
export const ReachableRange = () =>
  z.object({
    start: z.string(),
    end: z.string(),
    earliest: z.string(),
    latest: z.string(),
    readAt: z.string(),
  });
export type ReachableRange = z.infer<ReturnType<typeof ReachableRange>>;

/** The backups that can be restored, newest first, and how many there are of them in all. */
export const RestorableBackups = () => z.object({ newest: z.array(BackupFacts()), total: z.number() });
export type RestorableBackups = z.infer<ReturnType<typeof RestorableBackups>>;

/**
 * A backup that a run has opened to its last byte with a key; `backupId` recovers it in another instance
 * (domain 1.6).
 */
export const ProvenBackup = () =>
  z.object({
    id: z.number(),
    backupId: z.string().optional(),
    triggeredAt: z.string().optional(),
    provenAt: z.string(),
    fingerprint: Fingerprint(),
    /** Bytes of its content; missing where an older version proved it. */
    contentBytes: z.number().optional(),
  });
export type ProvenBackup = z.infer<ReturnType<typeof ProvenBackup>>;

/**
 * What it takes to recover a lost instance into another one (design: recovery card). It lives in the
 * instance's ledger.
 */
export const RecoveryCard = () =>
  z.object({
    backupGuid: z.string(),
    /** The key that the newest backups are made with, as far as the ledger knows. */
    fingerprint: Fingerprint().optional(),
    instanceId: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    preparedAt: z.string(),
    /**
     * Whether the ids of the instance's backups begin with the guid (domain 1.2); `unknown` where they name
     * none.
     */
    crossCheck: z.enum(['agrees', 'unknown', 'overridden']),
    proven: ProvenBackup().optional(),
    /** The newest done backup when the card was made, proven or not. */
    newest: BackupFacts().optional(),
  });
export type RecoveryCard = z.infer<ReturnType<typeof RecoveryCard>>;

/** A recovery card as a run makes it; its times are set when it is written into the ledger. */
export const CardDraft = () =>
  RecoveryCard()
    .partial({ preparedAt: true })
    .extend({ proven: ProvenBackup().partial({ provenAt: true }).optional() });
export type CardDraft = z.infer<ReturnType<typeof CardDraft>>;

/**
 * The done backups that an instance listed when it was looked at last, the newest first, and when that was.
 * No evidence: a file of this machine, for a recovery of which nothing else is on record.
 */
export const LastSeen = () =>
  z.object({
    at: z.string(),
    backups: z.array(BackupFacts()),
    /** Which held key opened the first block of a backup, if any did, and which were tried. */
    fits: z
      .array(
        z.object({
          id: z.number(),
          backupId: z.string().optional(),
          triggeredAt: z.string().optional(),
          key: Fingerprint().optional(),
          tried: z.array(Fingerprint()),
        }),
      )
      .optional(),
  });
export type LastSeen = z.infer<ReturnType<typeof LastSeen>>;

/**
 * The card that the ledger holds, older proven backups, and which keys are at hand. Nothing of the service is
 * called for it.
 */
export const CardOnRecord = () =>
  z.object({
    card: RecoveryCard().optional(),
    proven: z.array(ProvenBackup()),
    keysHeld: z.array(Fingerprint()),
    seen: LastSeen().optional(),
  });
export type CardOnRecord = z.infer<ReturnType<typeof CardOnRecord>>;

/** What is known of the backup that a recovery takes, by the clock of the service: from when its data is. */
export const ExpectedOrigin = () =>
  z.object({
    triggeredAt: z.string().optional(),
    startedAt: z.string().optional(),
    finishedAt: z.string().optional(),
    /**
     * The newest backup is recovered, and this is the newest that is known: it may be from then or from
     * later.
     */
    orNewer: z.boolean().optional(),
  });
export type ExpectedOrigin = z.infer<ReturnType<typeof ExpectedOrigin>>;

/** The instance that is lost, as far as it is known without asking it. */
export const LostInstance = () =>
  z.object({
    /** Its name in the config, where it is in it. */
    instance: z.string().optional(),
    instanceId: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    /**
     * The guid, or a `backup_id`, that the recovery takes: backups of the source itself begin with it (domain
     * 1.2).
     */
    backupGuid: z.string().optional(),
  });
export type LostInstance = z.infer<ReturnType<typeof LostInstance>>;

/**
 * By what a target is known. Pinned when it was checked; a difference until the call has it confirmed again
 * (domain N9).
 */
export const TargetIdentity = () =>
  z.object({
    instanceId: z.string().optional(),
    name: z.string().optional(),
    tenant: z.string().optional(),
    subtenant: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    createdAt: z.string().optional(),
    /** For the record: it may move by itself, so that it counts for nothing when two looks are compared. */
    updatedAt: z.string().optional(),
    state: z.string().optional(),
    backups: z.number(),
    newestBackup: z.number().optional(),
    restores: z.number(),
    newestRestore: z.number().optional(),
    runningTasks: z.array(z.number()),
    boundApps: z.array(z.string()),
  });
export type TargetIdentity = z.infer<ReturnType<typeof TargetIdentity>>;

/**
 * What was found at the target. `blockers` with code `target.not-empty` may be overridden by typing the
 * target's name; any other (`target.is-source`, `target.other-service`, `target.other-plan`, `target.state`,
 * `target.disk`, `target.deleted`) only with a reason, and `target.is-source` and `target.other-service`
 * never.
 */
export const TargetFacts = () =>
  z.object({
    identity: TargetIdentity(),
    disk: z
      .object({
        usedPercent: z.number(),
        threshold: z.number(),
        /** What may still be written before the parachute opens. */
        freeBytes: z.number().optional(),
        /** What the data may take once it is unpacked: a cautious multiple of the backup's size. */
        needBytes: z.number().optional(),
      })
      .optional(),
    clockSkewSeconds: z.number().optional(),
    warnings: z.array(z.string()),
    blockers: z.array(Failure()),
  });
export type TargetFacts = z.infer<ReturnType<typeof TargetFacts>>;

/**
 * What the reconciliation command of the config said. `newest` is the first date and time in its output,
 * `count` the first whole number outside of it. `failure` is data: a source that is gone cannot be asked, and
 * that is no reason to stop.
 */
export const Reconciliation = () =>
  z.object({
    configured: z.boolean(),
    at: z.string(),
    output: z.string().optional(),
    newest: z.string().optional(),
    count: z.number().optional(),
    failure: Failure().optional(),
  });
export type Reconciliation = z.infer<ReturnType<typeof Reconciliation>>;

/** A program and its arguments each, as the config of the team has them. No secret is in it. */
export const Reconnect = () => z.object({ command: z.array(z.string()), proof: z.array(z.string()) });
export type Reconnect = z.infer<ReturnType<typeof Reconnect>>;

/** An application that is bound to an instance, as it was before anything is unbound. */
export const BoundApp = () =>
  z.object({
    /** Unique in its run: the name, with space and org where names repeat. */
    key: z.string(),
    name: z.string(),
    space: z.string().optional(),
    org: z.string().optional(),
    guid: z.string().optional(),
    /** Whether it was started; a stopped one is bound and not restaged (domain 2.4). */
    running: z.boolean().optional(),
    binding: z
      .object({
        guid: z.string(),
        name: z.string().optional(),
        createdAt: z.string().optional(),
        /**
         * Where its parameters are kept: a file of this machine, readable by its owner only, because they may
         * hold secrets. None when the offering does not tell them.
         */
        parametersFile: z.string().optional(),
        parametersSha256: z.string().optional(),
      })
      .optional(),
    /** The owner's name in the config. */
    owner: z.string().optional(),
    /** The team's own way to give it its new credentials, whatever the platform is. */
    reconnect: Reconnect().optional(),
    from: z.enum(['config', 'platform', 'both']),
  });
export type BoundApp = z.infer<ReturnType<typeof BoundApp>>;

/** A service key: credentials without an application (cf `service-keys`); it dies with a restore as well. */
export const ServiceKey = () =>
  z.object({
    name: z.string(),
    guid: z.string().optional(),
    /** As for the binding of an application. */
    parametersFile: z.string().optional(),
    parametersSha256: z.string().optional(),
  });
export type ServiceKey = z.infer<ReturnType<typeof ServiceKey>>;

export const PlatformInstance = () =>
  z.object({
    guid: z.string(),
    name: z.string(),
    space: z.string().optional(),
    org: z.string().optional(),
  });
export type PlatformInstance = z.infer<ReturnType<typeof PlatformInstance>>;

/** What is bound to the instance and has to be bound again: from the config and the platform. */
export const Bound = () =>
  z.object({
    way: z.enum(['platform', 'cf', 'hand']),
    /** The config says that there is none: then nothing is said in the words of one. */
    platform: z.literal('none').optional(),
    /** Why it is by hand, or what else is worth a word. */
    notes: z.array(z.string()),
    /**
     * The service instance that the applications are bound to, and the one that they shall be bound to (the
     * same but for a target).
     */
    from: PlatformInstance().optional(),
    to: PlatformInstance().optional(),
    apps: z.array(BoundApp()),
    keys: z.array(ServiceKey()),
    /** Applications in spaces that this token may not see, by space (domain 2.2). */
    unseen: z.array(z.object({ space: z.string(), apps: z.number() })),
    /**
     * `no-downtime`: bind again, restage rolling, then remove the old binding; only where the platform allows
     * two bindings.
     */
    order: z.enum(['replace', 'no-downtime']),
    foundAt: z.string(),
    /**
     * There is a platform, or there may be one, and it could not be asked: more applications may be bound
     * than are known.
     */
    unasked: z.boolean().optional(),
  });
export type Bound = z.infer<ReturnType<typeof Bound>>;

/**
 * A step at the platform, and its proof: ids of jobs, bindings, builds, deployments, audit events. `already`:
 * it was done before.
 */
export const PlatformProof = () =>
  z.object({
    outcome: z.enum(['done', 'already', 'not-needed']),
    /** One sentence for the record. */
    text: z.string(),
    /** By the platform's own clock, when it was finished. RFC 3339. */
    at: z.string().optional(),
    evidence: z.record(z.string(), z.json()),
  });
export type PlatformProof = z.infer<ReturnType<typeof PlatformProof>>;

/** What a recovery leaves in the ledger of the instance that was changed. */
export const RecoveryRecord = () =>
  z.object({
    runbook: z.string(),
    restore: z.object({ id: z.number(), restoredFrom: z.string().optional() }).optional(),
    backup: z.object({ id: z.number(), backupId: z.string().optional() }).optional(),
    /** The instance whose data it is, when it is another one. */
    source: z.string().optional(),
    freshBackup: z.number().optional(),
  });
export type RecoveryRecord = z.infer<ReturnType<typeof RecoveryRecord>>;
