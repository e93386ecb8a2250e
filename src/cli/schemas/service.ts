import * as z from 'zod';
import { bytes, fingerprint, instance, runId, seconds, sha256, time } from '../../base/fields.ts';
import { Backup, BackupsConfig, InstanceOverview, PitrRange, Restore } from '../../service/schemas.ts';
import { BackupListing } from '../../service/v0.ts';
import { list, schema } from './result.ts';

/** The service's answer is in `answer`, under its own names. */
function answered<const Name extends string, Answer extends z.ZodType>(
  name: Name,
  about: string,
  answer: Answer,
) {
  return schema(name, about, { instance, answer: answer.describe('as the service reported it') });
}

const installation = z.object({
  installation: z.string().describe('16 hex digits that follow from its key'),
  publicKey: z.string().describe('PEM'),
  state: z.enum(['first', 'endorsed', 'announced']),
  by: z.string(),
  at: time,
  reason: z.string().optional(),
});

/** What the service answered, what was changed at it, and where the entries live. */
export const service = {
  backups: answered(
    'backups',
    'the backups of an instance; V0 lists restores with them',
    z.union([z.array(Backup), BackupListing()]),
  ),
  backup: answered('backup', 'one backup', z.union([Backup, BackupListing().shape.backups.element])),
  restores: answered(
    'restores',
    'the restores of an instance; V0 lists backups with them',
    z.union([z.array(Restore), BackupListing()]),
  ),
  restore: answered('restore', 'one restore', z.union([Restore, BackupListing().shape.restores.element])),
  'backup-config': answered('backup-config', 'the backup configuration of an instance', BackupsConfig),
  instance: answered('instance', 'the overview of an instance', InstanceOverview),
  metrics: answered('metrics', 'the measurements of an instance', z.json()),
  pitr: answered('pitr', 'the range that an instance can be restored to', PitrRange),
  change: schema('change', 'a change that the service accepted', {
    instance,
    run: runId.optional().describe('the run that made it'),
    id: z.int().nonnegative().optional().describe('of the backup or restore that it became'),
    backupGuid: z.string().optional().describe('what a recovery into another instance needs'),
    fingerprint: fingerprint.optional().describe('of the new key'),
    settings: z
      .object({
        minBackupCount: z.int().optional(),
        retentionDays: z.int().optional(),
        excludedFromAutoBackup: z.boolean().optional(),
        updatesAllowed: z.boolean().optional(),
        type: z.string().optional(),
      })
      .optional()
      .describe('as they are now'),
    answer: z.json().optional().describe('as the service reported it; missing where it reported nothing'),
  }),
  download: schema('download', 'a backup that was saved', {
    path: z.string(),
    bytes,
    sha256,
    requests: z.int().positive(),
    verdict: z.enum(['whole', 'other-size', 'size-unknown', 'not-encrypted']),
    beginning: z.enum(['encrypted', 'gzip']),
    listed: bytes.optional().describe('the size that the service lists'),
    announced: bytes.optional().describe('the length that its answer announced'),
    warnings: z.array(z.string()),
    seconds,
  }),
  calls: list(
    'calls',
    'calls that are in doubt',
    z.object({
      instance,
      intent: z.string(),
      verb: z.string(),
      armedAt: time.describe('from then on it may have been sent'),
      input: z.json(),
      candidates: z.json().optional().describe('what it may have become'),
      run: runId.optional().describe('the run that sent it; missing: a single command of an earlier version'),
      isOpen: z.boolean().optional().describe('whether that run is open, and asks about it when resumed'),
    }),
  ),
  call: schema('call', 'what became of a call that was in doubt', {
    instance,
    intent: z.string(),
    verb: z.string(),
    landed: z.boolean().describe('false: it became nothing'),
    became: z.int().nonnegative().optional().describe('its task; missing: it has no id, or became nothing'),
    reason: z.string().describe('how that is known'),
  }),
  store: schema('store', 'where the entries live', {
    engine: z.enum(['sqlite', 'postgresql']),
    where: z.string(),
    origin: z.string().optional().describe('the name of the log; missing: not begun'),
    size: z.int().nonnegative().describe('entries'),
    root: z.string().optional(),
    movedTo: z.string().optional(),
    installations: z.array(installation),
    holders: z.array(z.string()).describe('who writes to it now'),
    places: z.array(
      z.object({ name: z.string(), size: z.int().nonnegative().optional(), newest: z.string() }),
    ),
  }),
  'store-init': schema('store-init', 'the store of a team that was made or migrated', {
    where: z.string(),
    created: z.boolean(),
    version: z.int(),
    role: z.string().describe('the role of a member of the team'),
    roleMissing: z.boolean(),
  }),
  'store-copy': schema('store-copy', 'a store that was moved', {
    from: z.string(),
    to: z.string(),
    size: z.int().nonnegative().describe('entries'),
    root: z.string(),
  }),
  endorsement: schema('endorsement', 'an installation that is trusted', {
    installation: z.string(),
    state: z.enum(['first', 'endorsed']),
    isNew: z.boolean().describe('whether this command endorsed it'),
  }),
};
