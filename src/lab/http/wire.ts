import * as z from 'zod';

/* Schemas of the answers of service-api.md section 2. `null` is not known yet; section 2 does not say. */

const id = z.int().positive().describe('Internal id');
const datetime = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC');
const TaskStatus = z.enum(['queued', 'running', 'done', 'failed', 'deleted']);
const guid = z.guid();

/** Section 2.1. */
export const Backup = z.object({
  id: id.describe('Internal id of the backup within the instance'),
  backup_id: z.string().describe('Id in the Backup Manager and storage: recovers just this backup'),
  size: z.int().nonnegative().describe('Bytes'),
  status: TaskStatus,
  triggered_at: datetime,
  started_at: datetime.nullable().describe('When the task was picked up'),
  finished_at: datetime.describe('When the status last changed'),
  downloadable: z.boolean(),
});
export const ListedBackup62 = Backup.omit({ started_at: true });
export const Backup62 = Backup.omit({ started_at: true, backup_id: true });

/** Section 2.2. */
export const Restore = z.object({
  id: id.describe('Internal id of the restore within the instance'),
  backup_id: id.nullable().describe('Internal id of the backup used, within its instance'),
  status: TaskStatus,
  metadata: z.object({
    restored_from: datetime.nullable().describe('Creation of the backup used, or the chosen point in time'),
  }),
  triggered_at: datetime,
  finished_at: datetime.describe('When the status last changed'),
});

/** Section 2.3. */
export const BackupsConfig = z.object({
  min_backup_count: z.int().nonnegative(),
  retention_time: z.int().nonnegative().describe('Days'),
  min_encryption_key_length: z.int().nonnegative(),
  exclude_from_auto_backup: z.boolean(),
  backup_type: z.enum(['standard', 'continuous_archiving']),
});

/** Section 2.4. */
export const Overview = z.object({
  id,
  name: z.string(),
  state: z.enum(['provisioned', 'available', 'deleted', 'deploying', 'failed']),
  plan_id: guid,
  service_id: guid,
  created_at: datetime,
  updated_at: datetime,
  subtenant_id: guid,
  subtenant_name: z.string(),
  tenant_id: guid,
  tenant_name: z.string(),
  available_updates: z.array(z.object({ name: z.string(), type: z.string(), version: z.string() })),
  urls: z.array(z.object({ id: z.string(), display_name: z.string(), link: z.url() })),
});

/** Section 2.5. */
export const UpdateSetting = z.object({ type: z.string(), allowed: z.boolean() });

/** Section 2.7. */
export const PitrRange = z.object({ start_time: datetime, end_time: datetime });

/** Section 2.8: `<metric_path> <numeric_value> <unix_timestamp_seconds>`. */
export const Metrics = z.array(z.string().regex(/^[a-z]+\.\d+\.\S+ -?\d+(?:\.\d+)?(?:e[+-]\d+)? \d+$/));

/** Endpoints 13 to 15, whose success body is not shown. */
export const Accepted = z.object({ message: z.string() });
export const Started = z.object({ id, message: z.string() });

/** Section 2.9. */
const Task = z.object({
  id: id.describe('Internal id of the task'),
  task_id: id.describe('Internal id of the related backup or restore'),
  status: TaskStatus,
  created_at: datetime,
  updated_at: datetime,
});
export const V0Listing = z.object({
  id: id.describe('Internal instance id'),
  instance_id: guid,
  backups: z.array(z.object({ id, instance_id: id, backup_agent_task: Task })),
  restores: z.array(z.object({ id, instance_id: id, backup_agent_tasks: z.array(Task) })),
});

/** Section 7. */
export const ERROR_BODIES = {
  v1: z.object({ error: z.string().regex(/^[a-z][A-Za-z]+$/), description: z.string() }),
  'v1-download': z.object({ message: z.string(), status: z.int() }),
  v0: z.object({ msg: z.string() }),
} as const;

/** ISO 8601 with a zone; UTC without one. Returns milliseconds since 1970; finer digits are cut off. */
export const Moment = z.iso
  .datetime({ offset: true, local: true })
  .describe('ISO 8601 with a zone, else UTC')
  .transform((text) => new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`));
