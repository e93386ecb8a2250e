import * as z from 'zod';
import { Failure } from '../../src/base/failure.ts';
import { counted } from '../../src/base/quantity.ts';
import { BackupFacts, Fingerprint } from './task-data.ts';

/* Journalled, so it contains no secret. */

/** The instance that a verb acts on; the run's own by default. */
export type Side = 'target' | undefined;

/**
 * The range as the service reports it (service-api.md section 2.7). Between `earliest` and `latest` a restore
 * is safe: a margin is subtracted, and a short range leaves nothing between them. RFC 3339.
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

export const RestorableBackups = () => z.object({ newest: z.array(BackupFacts()), total: z.number() });
export type RestorableBackups = z.infer<ReturnType<typeof RestorableBackups>>;

/** Opened to its last byte with a key; `backupId` recovers it in another instance (domain 1.6). */
export const ProvenBackup = () =>
  z.object({
    id: z.number(),
    backupId: z.string().optional(),
    triggeredAt: z.string().optional(),
    provenAt: z.string(),
    fingerprint: Fingerprint(),
    /** Missing if an older version proved it. */
    contentBytes: z.number().optional(),
  });
export type ProvenBackup = z.infer<ReturnType<typeof ProvenBackup>>;

/** Where the key of a recovery card is kept; the card itself has the fingerprint. */
export const KeyFactor = () =>
  z.object({
    /** In words, such as `vault file /…/vault.age`. */
    store: z.string(),
    isHeld: z.boolean(),
    /** Its sealed copies, by the places of the config, and how many people they were sealed to. */
    sealed: z.object({ places: z.array(z.string()), people: z.number() }).optional(),
  });
type KeyFactor = z.infer<ReturnType<typeof KeyFactor>>;

export function keyFactorWords({ store, isHeld, sealed }: KeyFactor): string {
  const here = isHeld ? `in ${store}` : `NOT in ${store}`;
  if (sealed === undefined) return `${here}; no sealed copy`;
  return `${here}; sealed to ${counted(sealed.people, 'person', 'people')} in ${sealed.places.join(', ')}`;
}

/** What it takes to recover a lost instance into another one (design: recovery card). In its ledger. */
export const RecoveryCard = () =>
  z.object({
    backupGuid: z.string(),
    /** The key of the newest backups, as far as the ledger knows. */
    fingerprint: Fingerprint().optional(),
    instanceId: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    preparedAt: z.string(),
    /** Whether the backups' ids begin with the GUID (domain 1.2); `unknown` if they contain none. */
    crossCheck: z.enum(['agrees', 'unknown', 'overridden']),
    proven: ProvenBackup().optional(),
    /** The newest done backup when the card was made, proven or not. */
    newest: BackupFacts().optional(),
    /** Where the second factor is, the key; missing in cards of earlier versions. */
    key: KeyFactor().optional(),
  });
export type RecoveryCard = z.infer<ReturnType<typeof RecoveryCard>>;

/** The ledger sets the times when it writes the card. */
export const CardDraft = () =>
  RecoveryCard()
    .partial({ preparedAt: true })
    .extend({ proven: ProvenBackup().partial({ provenAt: true }).optional() });
export type CardDraft = z.infer<ReturnType<typeof CardDraft>>;

/**
 * The done backups when they were listed last, newest first. No evidence: a file of this machine, for a
 * recovery without any other record.
 */
export const LastSeen = () =>
  z.object({
    at: z.string(),
    backups: z.array(BackupFacts()),
    /** The held key that opened the first block of a backup, if any, and the keys that were tried. */
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

/** Undefined if none was tried. Compares more than the id, which the service may assign again. */
export function fitOf(
  seen: LastSeen | undefined,
  { id, backupId, triggeredAt, startedAt, finishedAt }: Omit<BackupFacts, 'status'>,
): BackupFacts['opens'] {
  const at = triggeredAt ?? startedAt ?? finishedAt;
  const fit = seen?.fits?.find((one) => one.id === id && one.backupId === backupId && one.triggeredAt === at);
  if (fit === undefined) return undefined;
  return fit.key === undefined ? { how: 'none' } : { how: 'fits', key: fit.key };
}

export const CardOnRecord = () =>
  z.object({
    card: RecoveryCard().optional(),
    proven: z.array(ProvenBackup()),
    keysHeld: z.array(Fingerprint()),
    seen: LastSeen().optional(),
  });
export type CardOnRecord = z.infer<ReturnType<typeof CardOnRecord>>;

/** The known times of the backup that a recovery takes, by the service's clock. */
export const ExpectedOrigin = () =>
  z.object({
    triggeredAt: z.string().optional(),
    startedAt: z.string().optional(),
    finishedAt: z.string().optional(),
    /** The newest known backup, but the newest is recovered: its data may be later. */
    orNewer: z.boolean().optional(),
  });
export type ExpectedOrigin = z.infer<ReturnType<typeof ExpectedOrigin>>;

/** The lost instance, as far as it is known without asking it. */
export const LostInstance = () =>
  z.object({
    /** Its name in the config, if it is there. */
    instance: z.string().optional(),
    instanceId: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    /** The GUID, or a `backup_id`, to recover: the source's own backups begin with it (domain 1.2). */
    backupGuid: z.string().optional(),
  });
export type LostInstance = z.infer<ReturnType<typeof LostInstance>>;

/** Pinned at the check; if it differs before the call, it must be confirmed again (domain N9). */
export const TargetIdentity = () =>
  z.object({
    instanceId: z.string().optional(),
    name: z.string().optional(),
    tenant: z.string().optional(),
    subtenant: z.string().optional(),
    serviceId: z.string().optional(),
    planId: z.string().optional(),
    createdAt: z.string().optional(),
    /** For the record only: it may change by itself. */
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
 * A blocker with code `target.not-empty` may be overridden by typing the target's name; any other
 * (`target.is-source`, `target.other-service`, `target.other-plan`, `target.state`, `target.disk`,
 * `target.deleted`) only with a reason, and `target.is-source` and `target.other-service` never.
 */
export const TargetFacts = () =>
  z.object({
    identity: TargetIdentity(),
    disk: z
      .object({
        usedPercent: z.number(),
        threshold: z.number(),
        /** How much may be written before the parachute opens. */
        freeBytes: z.number().optional(),
        /** The data's size once unpacked: a cautious multiple of the backup's size. */
        needBytes: z.number().optional(),
      })
      .optional(),
    clockSkewSeconds: z.number().optional(),
    warnings: z.array(z.string()),
    blockers: z.array(Failure()),
  });
export type TargetFacts = z.infer<ReturnType<typeof TargetFacts>>;

/**
 * `newest` is the first date and time in the output of the config's command, `count` the first whole number
 * outside of it. `failure` is data: a lost source cannot be asked, and that does not stop the run.
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

/** A program and its arguments, as in the team's config. It contains no secret. */
export const Reconnect = () => z.object({ command: z.array(z.string()), proof: z.array(z.string()) });
export type Reconnect = z.infer<ReturnType<typeof Reconnect>>;

/** An application bound to an instance, before anything is unbound. */
export const BoundApp = () =>
  z.object({
    /** Unique in its run: the name, with space and org if names repeat. */
    key: z.string(),
    name: z.string(),
    space: z.string().optional(),
    org: z.string().optional(),
    guid: z.string().optional(),
    /** Whether it was started; a stopped one is bound but not restaged (domain 2.4). */
    running: z.boolean().optional(),
    binding: z
      .object({
        guid: z.string(),
        name: z.string().optional(),
        createdAt: z.string().optional(),
        /**
         * A file of this machine, readable only by its owner, because parameters may contain secrets. Missing
         * if the offering does not report them.
         */
        parametersFile: z.string().optional(),
        parametersSha256: z.string().optional(),
      })
      .optional(),
    owner: z.string().optional(),
    /** The team's own way to give it new credentials, on any platform. */
    reconnect: Reconnect().optional(),
    from: z.enum(['config', 'platform', 'both']),
  });
export type BoundApp = z.infer<ReturnType<typeof BoundApp>>;

/** A service key: credentials without an application (cf `service-keys`); a restore ends it as well. */
export const ServiceKey = () =>
  z.object({
    name: z.string(),
    guid: z.string().optional(),
    parametersFile: z.string().optional(),
    parametersSha256: z.string().optional(),
  });
export type ServiceKey = z.infer<ReturnType<typeof ServiceKey>>;

/**
 * `read`: may read the instance, but change nothing. `unseen`: no single instance that the token sees has
 * this dashboard address. `unsaid`: the platform does not say.
 */
export type PlatformRight = 'manage' | 'read' | 'unseen' | 'unsaid';

export const PlatformInstance = () =>
  z.object({
    guid: z.string(),
    name: z.string(),
    space: z.string().optional(),
    org: z.string().optional(),
  });
export type PlatformInstance = z.infer<ReturnType<typeof PlatformInstance>>;

export const Bound = () =>
  z.object({
    way: z.enum(['platform', 'cf', 'hand']),
    /** The config says that there is none; the texts then mention none. */
    platform: z.literal('none').optional(),
    notes: z.array(z.string()),
    /** The service instances that the applications are bound to now, and afterwards. */
    from: PlatformInstance().optional(),
    to: PlatformInstance().optional(),
    apps: z.array(BoundApp()),
    keys: z.array(ServiceKey()),
    /** Applications in spaces that this token cannot see, by space (domain 2.2). */
    unseen: z.array(z.object({ space: z.string(), apps: z.number() })),
    /** `no-downtime`, if the platform allows two bindings: bind, restage rolling, remove the old binding. */
    order: z.enum(['replace', 'no-downtime']),
    foundAt: z.string(),
    /** A platform that exists, or may, could not be asked: more applications may be bound than are known. */
    unasked: z.boolean().optional(),
  });
export type Bound = z.infer<ReturnType<typeof Bound>>;

/** `evidence` holds ids of jobs, bindings, builds, deployments, audit events. `already`: done before. */
export const PlatformProof = () =>
  z.object({
    outcome: z.enum(['done', 'already', 'not-needed']),
    text: z.string(),
    /** By the platform's own clock. RFC 3339. */
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
    source: z.string().optional(),
    freshBackup: z.number().optional(),
  });
export type RecoveryRecord = z.infer<ReturnType<typeof RecoveryRecord>>;
