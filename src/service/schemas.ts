import * as z from 'zod';
import { untrust } from '../base/text.ts';

/*
 * The wire format of service-api.md section 2. Unknown fields are kept, unknown enum values are plain text,
 * and fields that the revisions disagree about (`started_at`, `backup_id`) are optional everywhere.
 */

/** Well formed: a lone surrogate has no UTF-8 form for the journal. */
export const text = z.string().transform((raw) => untrust(raw.toWellFormed()));
const STATES: ReadonlySet<string> = new Set(
  'queued running done failed deleted provisioned available deploying stopped'.split(' '),
);
/** Section 3. Known words are accepted in any case; unknown ones stay as received. */
export const state = z.string().transform((raw) => {
  const lower = raw.toLowerCase();
  return untrust(STATES.has(lower) ? lower : raw.toWellFormed());
});
/** An internal id (section 1). */
export const id = z.int().nonnegative();
/** Missing or null; both become undefined. */
export const maybe = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Bytes. A negative size means unknown, and must not invalidate a whole list. */
const size = maybe(z.number()).transform((value) => (value !== undefined && value < 0 ? undefined : value));

/** Section 2.1. */
export const Backup = z.looseObject({
  id,
  backup_id: maybe(text),
  size,
  status: state,
  triggered_at: maybe(text),
  started_at: maybe(text),
  finished_at: maybe(text),
  downloadable: maybe(z.boolean()),
});
export type Backup = z.infer<typeof Backup>;

/** Section 2.3. `retention_time` is in days. The key is write-only and never part of an answer. */
export const BackupsConfig = z.looseObject({
  min_backup_count: maybe(z.number()),
  retention_time: maybe(z.number()),
  min_encryption_key_length: maybe(z.number()),
  exclude_from_auto_backup: maybe(z.boolean()),
  backup_type: maybe(text),
});
export type BackupsConfig = z.infer<typeof BackupsConfig>;

/** Section 2.4. */
export const InstanceOverview = z.looseObject({
  id: maybe(z.union([id, text])),
  name: maybe(text),
  state: maybe(state),
  plan_id: maybe(text),
  service_id: maybe(text),
  created_at: maybe(text),
  updated_at: maybe(text),
  subtenant_name: maybe(text),
  tenant_name: maybe(text),
  available_updates: maybe(
    z.array(z.looseObject({ name: maybe(text), type: maybe(text), version: maybe(text) })),
  ),
  urls: maybe(z.array(z.looseObject({ display_name: maybe(text), id: maybe(text), link: maybe(text) }))),
});
export type InstanceOverview = z.infer<typeof InstanceOverview>;

/** Section 2.2. `backup_id` is the id within the instance, unlike the one of a backup. */
export const Restore = z.looseObject({
  id,
  backup_id: maybe(id),
  status: state,
  metadata: maybe(z.looseObject({ restored_from: maybe(text) })),
  triggered_at: maybe(text),
  finished_at: maybe(text),
});
export type Restore = z.infer<typeof Restore>;

/** Section 2.7: the oldest and the newest point in time that can be restored. */
export const PitrRange = z.looseObject({ start_time: maybe(text), end_time: maybe(text) });
export type PitrRange = z.infer<typeof PitrRange>;

/** The client has a method for each. */
export const PLAIN_READS = {
  overview: InstanceOverview,
  backupsConfig: BackupsConfig,
  pitrRange: PitrRange,
} as const;
