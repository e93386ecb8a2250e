import * as z from 'zod';
import { bytes, fingerprint, instance, runId, seconds, time } from '../../base/fields.ts';
import { schema } from './result.ts';

const answer = z.enum(['yes', 'no', 'unknown', 'empty']);

const verdict = z.object({
  answer,
  reasons: z
    .array(z.object({ answer: z.enum(['no', 'unknown']), code: z.string(), text: z.string() }))
    .describe('why the answer is not yes; those that say no first'),
});

const meetsRpo = z.boolean().optional().describe('absent without an RPO, or where the age is not known');
const age = seconds.optional().describe('its age; absent where it is not known');

const backup = z.object({
  id: z.int(),
  backupId: z.string().optional().describe('the id by which a recovery into a target names it'),
  triggeredAt: time.optional(),
  ageSeconds: age,
  aheadSeconds: seconds.optional().describe('how far its time lies in the future: a clock is wrong'),
  meetsRpo,
});

const part = z.object({
  state: z.string().describe('known, or why it is not'),
  ageSeconds: seconds.optional(),
  why: z.string().optional(),
  code: z.string().optional().describe('of what failed'),
});

const lastDrill = z.object({
  id: z.string(),
  scope: z.string(),
  outcome: z.string(),
  at: time,
  ageSeconds: seconds,
});

const instanceStatus = z.object({
  name: instance,
  role: z.enum(['source', 'target']),
  state: z.string().optional().describe('as the service names it'),
  rto: seconds.optional(),
  rpo: seconds.optional(),
  newestBackup: backup.extend({ size: bytes.optional(), downloadable: z.boolean().optional() }).optional(),
  lastSeenBackup: backup
    .omit({ meetsRpo: true })
    .extend({
      size: bytes.optional(),
      downloadable: z.boolean().optional(),
      seenAt: time,
      seenAgeSeconds: seconds,
    })
    .optional()
    .describe(
      'the newest that is known of an instance that does not list its backups now; there may be newer ones',
    ),
  provenBackup: backup
    .extend({
      provenAt: time,
      provenAgeSeconds: seconds,
      key: fingerprint,
      isListed: z.boolean().optional().describe('whether the service still lists it'),
    })
    .optional(),
  key: z.object({
    possible: z.array(z.object({ fingerprint, isHeld: z.boolean().optional(), provenAt: time.optional() })),
    isProven: z.boolean(),
  }),
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
    .union([z.literal('none'), z.object({ start: time, end: time, ageSeconds: age, meetsRpo })])
    .optional()
    .describe('the range of a point-in-time restore'),
  recovered: z
    .object({
      run: runId,
      runbook: z.string(),
      mode: z.enum(['LIVE', 'REHEARSAL']),
      at: time,
      ageSeconds: seconds,
    })
    .optional()
    .describe('the last recovery that was closed'),
  followUps: z.object({ open: z.int(), overdue: z.int() }).optional(),
  openRuns: z.array(runId),
  inDoubt: z.int().optional().describe('calls in doubt'),
  inPlace: verdict.describe('could a backup be brought back into the instance itself?'),
  elsewhere: verdict.describe('could it be brought back elsewhere, had it been lost?'),
  recoverable: verdict.describe(
    'the worst of both; of one that is down or not found, whether it could be brought back elsewhere',
  ),
  objectives: verdict
    .optional()
    .describe('whether what could be brought back keeps the RPO; absent where the config names none'),
  inService: verdict.describe('whether applications can work with it now'),
  opener: z
    .object({
      id: z.int(),
      triggeredAt: time.optional(),
      ageSeconds: age,
      meetsRpo,
      how: z
        .enum(['proven', 'fits'])
        .describe('proven: read to its last byte; fits: the key opens its first block, which is no proof'),
      key: fingerprint.describe('the key that opens it'),
    })
    .optional()
    .describe('the backup that a recovery would take: the newest that opens'),
  down: z
    .object({ why: z.string(), seenAt: time.optional() })
    .optional()
    .describe('of one that does not answer: why, and when it was seen last'),
  notFound: z
    .object({ why: z.string(), seenAt: time.optional() })
    .optional()
    .describe('of one whose address answers that there is no such instance: in which words'),
  cautions: z.array(z.string()),
  parts: z.object({ overview: part, backups: part, window: part, record: part, held: part }),
});

/** When the next drill is due. */
export const drillDue = z.object({
  lastProven: lastDrill.optional(),
  last: lastDrill.optional().describe('the newest that is over, whatever came of it'),
  everySeconds: seconds.optional().describe('as the config asks; without it none is ever due'),
  dueAt: time.optional(),
  isOverdue: z.boolean(),
  fromFuture: z
    .array(z.string())
    .describe('drills of a time still to come, which count for nothing: a clock was wrong'),
});

/** What `lifeboat status` prints. */
export const status = {
  status: schema('status', 'each instance, and whether it could be recovered now', {
    at: time,
    items: z.array(instanceStatus),
    drills: drillDue,
  }),
} as const;
