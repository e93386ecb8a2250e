import * as z from 'zod';
import { time } from '../../base/fields.ts';
import { STORE_RIGHTS } from '../../store/rights.ts';
import { QueueHolds } from '../../view/fleet/workers-schema.ts';
import { schema } from './result.ts';

const installation = z.object({
  installation: z.string().describe('16 hex digits that follow from its key'),
  publicKey: z.string().describe('PEM'),
  state: z.enum(['first', 'endorsed', 'announced']),
  by: z.string(),
  at: time,
  reason: z.string().optional(),
});

export const stores = {
  store: schema('store', 'where the entries live', {
    engine: z.enum(['sqlite', 'postgresql']),
    where: z.string(),
    origin: z.string().optional().describe('the name of the log; missing: not begun'),
    size: z.int().nonnegative().describe('entries'),
    root: z.string().optional(),
    movedTo: z.string().optional(),
    installations: z.array(installation),
    holders: z.array(z.string()).describe('who writes to it now'),
    rights: z
      .enum(STORE_RIGHTS)
      .optional()
      .describe('what this user may do to it; all but `member` is trouble; missing: SQLite'),
    places: z.array(
      z.object({ name: z.string(), size: z.int().nonnegative().optional(), newest: z.string() }),
    ),
    bytes: z.number().nonnegative().optional().describe('on disk, with indexes; missing: not begun'),
    streams: z.int().nonnegative().optional(),
    days: z
      .array(z.object({ day: z.string(), entries: z.int(), bytes: z.number().describe('of their texts') }))
      .optional()
      .describe('what the last seven days added, by UTC; a day without entries is missing'),
    vacuum: z
      .object({ lastAt: z.string().optional(), deadRows: z.number() })
      .optional()
      .describe('what PostgreSQL says about removing dead rows'),
    queue: z
      .union([QueueHolds, z.object({ trouble: z.string().describe('why it is not known') })])
      .optional()
      .describe('what waits for workers; missing: SQLite'),
  }),
  'store-init': schema('store-init', 'the store of a team that was made', {
    where: z.string(),
    created: z.boolean(),
    version: z.int(),
    role: z.string().describe('the role of a member of the team'),
    roleMissing: z.boolean(),
    queue: z
      .enum(['made', 'there', 'missing'])
      .describe('the queue of its workers; `missing`: this user may not make it'),
  }),
  'store-migrate': schema('store-migrate', 'the store of a team that was brought to this version', {
    where: z.string(),
    before: z.int().describe('the version of its schema before'),
    version: z.int(),
    queue: z
      .enum(['made', 'there', 'migrated', 'missing'])
      .describe('the queue of its workers; `missing`: this user may not make or change it'),
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
