import * as z from 'zod';

/*
 * The bodies of service-api.md, section 2 and 7. Fields that the document does not know are allowed
 * everywhere: it promises what is there, not what is not.
 */
const DATETIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]00:?00)$/;

export const STATUSES = ['queued', 'running', 'done', 'failed', 'deleted'] as const;
const Id = z.int();
const Datetime = z
  .string()
  .refine((text) => DATETIME.test(text) && !Number.isNaN(Date.parse(text)), 'is not an ISO 8601 time in UTC');
const Status = z.enum(STATUSES);
const Named = z.string().min(1);
const Guid = z.guid();

/** What both revisions promise of a backup, section 2.1. */
const BackupBase = z.looseObject({
  id: Id,
  size: z.int().min(0),
  status: Status,
  triggered_at: Datetime,
  finished_at: Datetime.nullable(),
  downloadable: z.boolean(),
});
/** Nothing was started or finished yet while it waits. */
const STARTED = { started_at: Datetime.nullable() };
const STORED = { backup_id: Named };

/** A backup as the list (endpoint 1) or the single look (endpoint 2) of a revision shows it. */
export const BACKUP = {
  61: {
    listed: ended(BackupBase.extend({ ...STORED, ...STARTED })),
    one: ended(BackupBase.extend({ ...STORED, ...STARTED })),
  },
  62: { listed: ended(BackupBase.extend(STORED)), one: ended(BackupBase) },
} as const;

export const Restore = ended(
  z.looseObject({
    id: Id,
    backup_id: Id,
    status: Status,
    metadata: z.looseObject({ restored_from: Datetime }),
    triggered_at: Datetime,
    finished_at: Datetime.nullable(),
  }),
);

export const BackupsConfig = z.looseObject({
  min_backup_count: z.int().min(0),
  retention_time: z.int().min(0),
  min_encryption_key_length: z.int().min(0),
  exclude_from_auto_backup: z.boolean(),
  backup_type: z.enum(['standard', 'continuous_archiving']),
  encryption_key: z.undefined('the key is write only').optional(),
});

export const Overview = z.looseObject({
  available_updates: z.array(z.looseObject({ name: z.string(), type: z.string(), version: z.string() })),
  created_at: Datetime,
  id: Id,
  name: z.string(),
  plan_id: Named,
  service_id: Named,
  state: z.enum(['provisioned', 'available', 'deleted', 'deploying', 'failed']),
  subtenant_id: z.string(),
  subtenant_name: z.string(),
  tenant_id: z.string(),
  tenant_name: z.string(),
  updated_at: Datetime,
  urls: z.array(z.looseObject({ display_name: z.string(), id: z.string(), link: z.url() })),
});

export const Metrics = z.array(z.string());
export const Range = z.looseObject({ start_time: Datetime, end_time: Datetime });
export const Created = z.looseObject({ id: Id, message: Named });
export const Message = z.looseObject({ message: Named });
export const Restoring = z.looseObject({ id: Id });
export const Prepared = z.looseObject({ backup_guid: Guid });
export const Performed = z.looseObject({ restore_id: Id });
export const PitrAccepted = z.looseObject({ status: Status });
export const Edited = z.looseObject({
  allowed_update_time: z.looseObject({ type: z.string(), allowed: z.boolean() }),
  id: Guid,
});

/** Section 2.9. */
const Task = z.looseObject({
  id: Id,
  task_id: Id,
  status: Status,
  created_at: Datetime,
  updated_at: Datetime,
});
export const Listing = z.looseObject({
  id: Id,
  instance_id: Named,
  backups: z.array(z.looseObject({ id: Id, instance_id: Id, backup_agent_task: Task })),
  restores: z.array(z.looseObject({ id: Id, instance_id: Id, backup_agent_tasks: z.array(Task) })),
});
export type Listing = z.infer<typeof Listing>;
export type Task = z.infer<typeof Task>;

/** Section 7. */
export const V1Error = z.looseObject({
  error: z.string().regex(/^[A-Za-z][A-Za-z0-9]*$/, 'is not one word in camel case'),
  description: Named,
});
export const DownloadError = z.looseObject({ message: Named, status: z.int() });
export const V0Error = z.looseObject({ msg: Named });

/*
 * Enough of a body to work with, for checks that are about something else. Only the check that is about a
 * missing field reports it.
 */
export const SomeBackup = z.looseObject({
  id: Id,
  backup_id: z.string().optional(),
  size: z.int().optional(),
  status: Status,
  triggered_at: Datetime,
  started_at: Datetime.nullish(),
  finished_at: Datetime.nullish(),
  downloadable: z.boolean().optional(),
});
export type SomeBackup = z.infer<typeof SomeBackup>;

export const SomeRestore = z.looseObject({
  id: Id,
  backup_id: z.unknown(),
  status: Status,
  metadata: z.looseObject({ restored_from: z.string().optional() }).optional(),
  triggered_at: Datetime,
  finished_at: Datetime.nullish(),
});
export type SomeRestore = z.infer<typeof SomeRestore>;

export const SomeConfig = BackupsConfig.omit({ encryption_key: true }).partial();
export type SomeConfig = z.infer<typeof SomeConfig>;

export const SomeOverview = Overview.pick({ state: true }).extend({
  id: z.unknown(),
  name: z.string().optional(),
  plan_id: z.unknown(),
  service_id: z.string().optional(),
  created_at: z.unknown(),
});
export type SomeOverview = z.infer<typeof SomeOverview>;

/** Once a task has ended, the time when it did is no longer allowed to be missing. */
function ended<T extends z.ZodType<{ status: string; finished_at: string | null }>>(shape: T) {
  return shape.refine(
    ({ status, finished_at }) => finished_at !== null || status === 'queued' || status === 'running',
    { path: ['finished_at'], message: 'is missing from a task that has ended' },
  );
}
