import * as z from 'zod';
import type { DeepReadonly } from '../../base/deep-readonly.ts';
import { bytes, fingerprint, instance, mode, runId, seconds, time } from '../../base/fields.ts';
import { Evaluation } from '../../plans/evaluation-schema.ts';
import type { DiskFill, Part } from './fleet-facts.ts';

/*
 * Used by the board and by `status`. Screens import only types from here, so that they do not load the
 * schema.
 */

/** `unknown`: not asked, not answered, or never proven. `empty`: a target without data of its own yet. */
const Answer = z.enum(['yes', 'no', 'unknown', 'empty']);
export type Answer = z.infer<typeof Answer>;

/** `code` is stable and dotted (`key.not-held`); `text` is one printable line, lower case, no stop. */
const Reason = z.object({ answer: z.enum(['no', 'unknown']), code: z.string(), text: z.string() });
export type Reason = Readonly<z.infer<typeof Reason>>;

const Verdict = z.object({
  answer: Answer,
  reasons: z.array(Reason).describe('why the answer is not yes; those that say no first'),
});
export type Verdict = DeepReadonly<z.infer<typeof Verdict>>;

const meetsRpo = z.boolean().optional().describe('absent without an RPO, or where the age is not known');
/** By the service's clock if it is known. Absent if the time lies ahead. */
const ageSeconds = seconds.optional().describe('its age; absent where it is not known');

const backup = z.object({
  id: z.int(),
  backupId: z.string().optional().describe('the id by which a recovery into a target names it'),
  triggeredAt: time.optional(),
  ageSeconds,
  aheadSeconds: seconds.optional().describe('how far its time lies in the future: a clock is wrong'),
  meetsRpo,
});
const file = { size: bytes.optional(), downloadable: z.boolean().optional() };

const BackupStatus = backup.extend(file);
export type BackupStatus = Readonly<z.infer<typeof BackupStatus>>;

/** Times are the service's own, RFC 3339. */
export type ListedBackup = Omit<BackupStatus, 'ageSeconds' | 'aheadSeconds' | 'meetsRpo'>;

/**
 * From an earlier list, the recovery card or a proof. There may be newer backups, so it is not compared with
 * the RPO; its age is by this machine's clock.
 */
const SeenStatus = backup.omit({ meetsRpo: true }).extend({ ...file, seenAt: time, seenAgeSeconds: seconds });
export type SeenStatus = Readonly<z.infer<typeof SeenStatus>>;

/** Opened with a key and read to its last byte. */
const ProvenStatus = backup.extend({
  /** By the clock that stamps the journal. */
  provenAt: time,
  provenAgeSeconds: seconds,
  key: fingerprint,
  isListed: z.boolean().optional().describe('whether the service still lists it'),
});
export type ProvenStatus = Readonly<z.infer<typeof ProvenStatus>>;

const OpenerStatus = backup.pick({ id: true, triggeredAt: true, ageSeconds: true, meetsRpo: true }).extend({
  how: z
    .enum(['proven', 'fits'])
    .describe('proven: read to its last byte; fits: the key opens its first block, which is no proof'),
  key: fingerprint.describe('the key that opens it'),
});
export type OpenerStatus = Readonly<z.infer<typeof OpenerStatus>>;

/** Possible keys of the newest backup. `isHeld` is missing if the key store was not read. */
const KeyStatus = z.object({
  possible: z.array(z.object({ fingerprint, isHeld: z.boolean().optional(), provenAt: time.optional() })),
  /** Each of them has opened a backup. */
  isProven: z.boolean(),
});
export type KeyStatus = DeepReadonly<z.infer<typeof KeyStatus>>;

/** Age of the newest point of the range. */
const WindowStatus = z.object({ start: time, end: time, ageSeconds, meetsRpo });
export type WindowStatus = Readonly<z.infer<typeof WindowStatus>>;

const Absence = z.object({ why: z.string(), seenAt: time.optional() });
export type Absence = Readonly<z.infer<typeof Absence>>;

const PartAge = z.object({
  state: z.string().describe('known, or why it is not'),
  ageSeconds: seconds.optional(),
  why: z.string().optional(),
  code: z.string().optional().describe('of what failed'),
});
export interface PartAge extends Readonly<z.infer<typeof PartAge>> {
  readonly state: Part<unknown>['state'];
}

export const InstanceStatus = z.object({
  name: instance,
  role: z.enum(['source', 'target']),
  state: z.string().optional().describe('as the service names it'),
  rto: seconds.optional(),
  rpo: seconds.optional(),
  newestBackup: BackupStatus.optional(),
  lastSeenBackup: SeenStatus.optional().describe(
    'the newest that is known of an instance that does not list its backups now; there may be newer ones',
  ),
  provenBackup: ProvenStatus.optional(),
  key: KeyStatus,
  card: z
    .object({
      preparedAt: time,
      ageSeconds: seconds,
      key: fingerprint.optional(),
      crossCheck: z.enum(['agrees', 'unknown', 'overridden']),
    })
    .optional()
    .describe('the recovery card'),
  window: z
    .union([z.literal('none'), WindowStatus])
    .optional()
    .describe('the range of a point-in-time restore'),
  recovered: z
    .object({ run: runId, runbook: z.string(), mode, at: time, ageSeconds: seconds })
    .optional()
    .describe('the last recovery that was closed'),
  /** Missing if the journal could not be read, like `inDoubt`. */
  followUps: z.object({ open: z.int(), overdue: z.int() }).optional(),
  openRuns: z.array(runId),
  inDoubt: z.int().optional().describe('calls in doubt'),
  inPlace: Verdict.describe('could a backup be brought back into the instance itself?'),
  elsewhere: Verdict.describe('could it be brought back elsewhere, had it been lost?'),
  recoverable: Verdict.describe(
    'yes where the evaluation says proven or ready, with its checks as reasons; of one that is down or not found, whether it could be brought back elsewhere',
  ),
  evaluation: Evaluation.describe('whether it could be recovered now, with every check'),
  lastEvaluation: z
    .object({ verdict: Evaluation.shape.verdict, at: time })
    .optional()
    .describe('the newest evaluation on record, and when it was last found so: it says nothing of now'),
  objectives: Verdict.optional().describe(
    'whether what could be brought back keeps the RPO; absent where the config names none',
  ),
  inService: Verdict.describe('whether applications can work with it now'),
  rotation: z
    .object({
      state: z.enum(['in-time', 'due', 'unknown']),
      key: fingerprint.optional(),
      setAt: time.optional().describe('since when it is in force'),
      dueAt: time.optional(),
      why: z.string().optional().describe('why it is not known'),
    })
    .optional()
    .describe('whether the key is due for rotation; absent where the config names no cryptoperiod'),
  fits: z
    .object({
      tried: z.int().describe('backups whose first block was tried with the held keys'),
      opened: z.int().describe('of these, those that a held key fits: no proof'),
      unopened: z.array(z.int()).describe('the ids of those that no held key fits'),
    })
    .optional()
    .describe('which keys fit the backups, as far as they were tried'),
  ending: z
    .array(z.object({ key: fingerprint, due: time }))
    .optional()
    .describe('keys that are scheduled to be destroyed; absent if the journal could not be read'),
  opener: OpenerStatus.optional().describe('the backup that a recovery would take: the newest that opens'),
  down: Absence.optional().describe('of one that does not answer: why, and when it was seen last'),
  notFound: Absence.optional().describe(
    'of one whose address answers that there is no such instance: in which words',
  ),
  /** Problems that do not prevent a recovery. One printable line each. */
  cautions: z.array(z.string()),
  parts: z.object({ overview: PartAge, backups: PartAge, window: PartAge, record: PartAge, held: PartAge }),
});

/** Only screens ask for the disk, so it is not printed. */
export interface InstanceStatus extends DeepReadonly<z.infer<typeof InstanceStatus>> {
  readonly evaluation: Evaluation;
  readonly disk?: DiskFill | 'none' | undefined;
  readonly parts: Readonly<Record<'overview' | 'backups' | 'window' | 'record' | 'held', PartAge>> & {
    readonly disk?: PartAge;
  };
}
