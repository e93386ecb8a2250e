import * as z from 'zod';
import type { Step } from './parts/plan.ts';
import { ExpectedOrigin, LostInstance } from './parts/recovery-data.ts';
import { BackupSettings, UpdateSetting } from './parts/task-data.ts';

const Plain = z.strictObject({
  /** The instance's name in the config: what the operator types to confirm. */
  instance: z.string(),
  reason: z.string().optional(),
});

/** Times are RFC 3339 with a zone. */
const Common = Plain.extend({
  /** Without it, the recovery time counts from the start of the run. */
  incidentAt: z.string().optional(),
  /** Only these applications are bound again; by default all that are found. */
  apps: z.array(z.string()).optional(),
});

export const RotateKeyInput = z.object(Plain.shape);
export type RotateKeyInput = z.infer<typeof RotateKeyInput>;

export const DisasterRecoveryInput = Common.extend({
  /** `both`: the card is made and used in one run. */
  mode: z.enum(['prepare', 'perform', 'both']),
  /** The instance that takes over; needed unless `mode` is `prepare`. */
  target: z.string().optional(),
  /** A `backup_id`, for a backup other than the newest (domain 1.6). */
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
  /** Still checked against the range. */
  time: z.string().optional(),
});
export type RestorePointInTimeInput = z.infer<typeof RestorePointInTimeInput>;

export const RestoreBackupInput = Common.extend({
  /** The backup's id within the instance. */
  backup: z.number().optional(),
});
export type RestoreBackupInput = z.infer<typeof RestoreBackupInput>;

export const BackUpAndVerifyInput = Plain;
export type BackUpAndVerifyInput = z.infer<typeof BackUpAndVerifyInput>;

export const ChangeInstanceInput = Common.extend({ action: z.enum(['restart', 'recreate', 'update']) });
export type ChangeInstanceInput = z.infer<typeof ChangeInstanceInput>;

const SINGLE_CHANGES = [
  'createBackup',
  'restoreBackup',
  'restoreToTime',
  'performRecovery',
  'restart',
  'recreate',
  'update',
  'setKey',
  'changeBackupSettings',
  'changeUpdateSetting',
  'prepareRecovery',
] as const;

export const SingleChange = () =>
  z.object({
    change: z.enum(SINGLE_CHANGES),
    wait: z.boolean(),
    /** Why a restore leaves no follow-ups; without it, it leaves those of its runbook. */
    noFollowUps: z.string().optional(),
    /** A new key is set: by `setKey`, or together with `prepareRecovery`. */
    setsKey: z.boolean(),
    settings: BackupSettings().optional(),
    setting: UpdateSetting().optional(),
    /** `performRecovery`: the instance under whose name the key is kept, the fingerprint, and the guid. */
    source: z.string().optional(),
    fingerprint: z.string().optional(),
    guid: z.string().optional(),
    expectFrom: ExpectedOrigin().optional(),
    /** The target is compared with the record of the lost instance, and with the size of its data. */
    lost: z.object({ source: LostInstance(), needBytes: z.number().optional() }).optional(),
  });
export type SingleChange = z.infer<ReturnType<typeof SingleChange>>;

export const SingleChangeInput = Plain.extend({
  single: SingleChange(),
  backup: z.number().optional(),
  time: z.string().optional(),
});
export type SingleChangeInput = z.infer<typeof SingleChangeInput>;

/** `objectives` of the plan, in milliseconds. */
export const PlanStepInput = Plain.extend({
  step: z.custom<Step>((value) => typeof value === 'object' && value !== null && 'kind' in value),
  objectives: z.object({ rto: z.number().optional(), rpo: z.number().optional() }).optional(),
  rehearsal: z.boolean().optional(),
});
export type PlanStepInput = z.infer<typeof PlanStepInput>;

/** Input of any runbook. */
export interface RunInput {
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
  readonly single?: SingleChange | undefined;
  readonly step?: Step | undefined;
  readonly objectives?: PlanStepInput['objectives'];
}
