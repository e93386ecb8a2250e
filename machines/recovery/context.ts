import { z } from 'zod';
import { Failure } from '../parts/failure.ts';
import { Obligation } from '../parts/obligation.ts';
import {
  CardDraft,
  CardOnRecord,
  Duties,
  PlatformProof,
  ReachableRange,
  Reconciliation,
  RestorableBackups,
  TargetFacts,
} from '../parts/recovery-verbs.ts';
import {
  BackupFacts,
  DownloadedFile,
  InstanceReady,
  KeySetting,
  NegativeTest,
  PreflightFacts,
  RestoreFacts,
  StoredKey,
  UpdateSetting,
  Verification,
} from '../parts/verbs.ts';

/** What every recovery is begun with. Times are RFC 3339 with a zone. */
const Common = z.strictObject({
  /** The instance's name in the config. */
  instance: z.string(),
  reason: z.string().optional(),
  /** When the incident began, as somebody says; without it the recovery time counts from the start of the run. */
  incidentAt: z.string().optional(),
  /** Only these applications are bound again; all that are found without it. */
  apps: z.array(z.string()).optional(),
});

export const DisasterRecoveryInput = Common.extend({
  /** `both`: the card is made and used in one run. */
  mode: z.enum(['prepare', 'perform', 'both']),
  /** The instance that takes over; needed unless `mode` is `prepare`. */
  target: z.string().optional(),
  /** A `backup_id`, for another backup than the newest (domain 1.6). */
  backup: z.string().optional(),
  /** The target is a lab or scratch instance that has to be removed afterwards. */
  rehearsal: z.boolean().optional(),
})
  .refine(({ mode, target }) => mode === 'prepare' || target !== undefined, {
    message: 'a recovery needs a target',
    path: ['target'],
  })
  .refine(({ instance, target }) => instance !== target, {
    message: 'the target must be another instance',
    path: ['target'],
  });
export type DisasterRecoveryInput = z.infer<typeof DisasterRecoveryInput>;

export const RestorePointInTimeInput = Common.extend({
  /** The point in time, when it is known at the start; it is still checked against the range. */
  time: z.string().optional(),
});
export type RestorePointInTimeInput = z.infer<typeof RestorePointInTimeInput>;

export const RestoreBackupInput = Common.extend({
  /** The backup's id within the instance, when it is known at the start. */
  backup: z.number().optional(),
});
export type RestoreBackupInput = z.infer<typeof RestoreBackupInput>;

export const BackUpAndVerifyInput = Common.omit({ incidentAt: true, apps: true });
export type BackUpAndVerifyInput = z.infer<typeof BackUpAndVerifyInput>;

export const ChangeInstanceInput = Common.extend({ action: z.enum(['restart', 'recreate', 'update']) });
export type ChangeInstanceInput = z.infer<typeof ChangeInstanceInput>;

/** What any of the recoveries is begun with, as their common setup sees it. */
export interface RecoveryInput {
  readonly instance: string;
  readonly target?: string | undefined;
  readonly reason?: string | undefined;
  readonly incidentAt?: string | undefined;
  readonly apps?: readonly string[] | undefined;
  readonly mode?: 'prepare' | 'perform' | 'both' | undefined;
  readonly action?: 'restart' | 'recreate' | 'update' | undefined;
  readonly rehearsal?: boolean | undefined;
  readonly backup?: string | number | undefined;
  readonly time?: string | undefined;
}

/** A task that this run has asked for: how often (the number names the current intent), and what became of it. */
export const TaskState = z.object({
  intents: z.number(),
  /** Sends proven not to have arrived, one after the other. */
  absences: z.number(),
  /** What came back to the last of these sends, and what the service's list showed then. */
  absence: z.object({ lost: Failure.optional(), evidence: z.json().optional() }).optional(),
  landed: z.object({ id: z.number(), adopted: z.boolean() }).optional(),
  backup: BackupFacts.optional(),
  restore: RestoreFacts.optional(),
  /** What the operator said when it was done outside of this run; the service's word is missing then. */
  outside: z.string().optional(),
});
export type TaskState = z.infer<typeof TaskState>;

/**
 * What a recovery knows. One shape for all of them: each fills the parts that its states need, in the order in which they are
 * listed.
 */
export const RecoveryContext = z.object({
  instance: z.string(),
  target: z.string().optional(),
  reason: z.string().optional(),
  incidentAt: z.string().optional(),
  /** Names of the applications that were asked for; all without it. */
  onlyApps: z.array(z.string()).optional(),
  mode: z.enum(['prepare', 'perform', 'both']).optional(),
  action: z.enum(['restart', 'recreate', 'update']).optional(),
  rehearsal: z.boolean().optional(),
  /** What the run was begun with: a backup's id or `backup_id`, a point in time. It is still checked against what there is. */
  asked: z.object({
    backup: z.number().optional(),
    guid: z.string().optional(),
    time: z.string().optional(),
  }),

  /** The instance as it was found; of a recovery into a target only in `prepare`. */
  facts: PreflightFacts.optional(),
  /** What changed between the facts and the confirmation, as sentences. */
  drift: z.array(z.string()),
  before: Reconciliation.optional(),

  /** Disaster recovery: what is needed without the source. */
  onRecord: CardOnRecord.optional(),
  card: CardDraft.optional(),
  /** The guid that `prepare` gave, and whether the ids of the backups begin with it. */
  guid: z.string().optional(),
  crossCheck: z.enum(['agrees', 'unknown', 'overridden']).optional(),
  /** The guid or `backup_id` that `perform` sends, and the key it takes. */
  from: z
    .object({
      guid: z.string(),
      fingerprint: z.string(),
      what: z.enum(['newest', 'backup']),
      how: z.enum(['card', 'typed']),
    })
    .optional(),
  targetFacts: TargetFacts.optional(),
  /** Codes of the target's blockers that the operator has overridden. */
  overridden: z.array(z.string()),
  /** The key that `prepare` sets, only when a rotation was asked for. */
  keyOrigin: z.enum(['generated', 'given']).optional(),
  given: z.object({ fingerprint: z.string(), length: z.number() }).optional(),
  key: StoredKey.optional(),
  setting: KeySetting.optional(),

  /** Point in time: what can be reached, and what was chosen. */
  range: ReachableRange.optional(),
  time: z.string().optional(),
  /** In place: what can be restored, and what was chosen. */
  backups: RestorableBackups.optional(),
  chosen: BackupFacts.optional(),

  /** Update setting to put back after a change of the instance. */
  updates: UpdateSetting.optional(),
  /** Whether the service offers to change it, and why not. */
  updatesChangeable: z.object({ changeable: z.boolean(), why: z.string().optional() }).optional(),
  /** The run is to be stopped once the update setting is put back. */
  stopping: z.boolean(),

  /** The tasks of this run, each at most once: a backup before, one to prove, the restore, a backup after. */
  safety: TaskState,
  proof: TaskState,
  restore: TaskState,
  fresh: TaskState,
  /** The action of the instance (restart, recreate, update). */
  act: TaskState,
  ready: InstanceReady.optional(),
  file: DownloadedFile.optional(),
  verification: Verification.optional(),
  negative: NegativeTest.optional(),
  afterwards: Reconciliation.optional(),

  duties: Duties.optional(),
  obligations: z.array(Obligation),
  /** The obligation that is being worked on. */
  paying: z.string().optional(),
  /** What the platform has proven of it so far. */
  proofs: z.array(
    z.object({ step: z.enum(['unbind', 'bind', 'restage', 'renew', 'prove']), proof: PlatformProof }),
  ),
  /** Whether the operator has let the platform do all it can, one after the other. */
  payingAll: z.boolean(),
  /** Obligations whose payment has failed since: the others are not kept waiting for them. */
  stuck: z.array(z.string()),

  recorded: z.boolean(),
  failure: Failure.optional(),
  skipped: z.array(z.object({ step: z.string(), reason: z.string() })),
});
export type RecoveryContext = z.infer<typeof RecoveryContext>;

/** A recovery before its first event. */
export function startingContext(input: RecoveryInput): RecoveryContext {
  const { instance, target, reason, incidentAt, apps, mode, action, rehearsal, backup, time } = input;
  const task = { intents: 1, absences: 0 };
  return {
    instance,
    ...(target === undefined ? {} : { target }),
    ...(reason === undefined ? {} : { reason }),
    ...(incidentAt === undefined ? {} : { incidentAt }),
    ...(apps === undefined ? {} : { onlyApps: [...apps] }),
    ...(mode === undefined ? {} : { mode }),
    ...(action === undefined ? {} : { action }),
    ...(rehearsal === undefined ? {} : { rehearsal }),
    asked: {
      ...(typeof backup === 'number' ? { backup } : {}),
      ...(typeof backup === 'string' ? { guid: backup } : {}),
      ...(time === undefined ? {} : { time }),
    },
    drift: [],
    overridden: [],
    stopping: false,
    safety: { ...task },
    proof: { ...task },
    restore: { ...task },
    fresh: { ...task },
    act: { ...task },
    obligations: [],
    proofs: [],
    payingAll: false,
    stuck: [],
    recorded: false,
    skipped: [],
  };
}
