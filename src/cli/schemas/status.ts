import * as z from 'zod';
import { time } from '../../base/fields.ts';
import { DrillDue } from '../../report/drill/drill-report.ts';
import { InstanceStatus } from '../../view/fleet/status-schema.ts';
import { schema } from './result.ts';

/** What `lifeboat status` prints. */
export const status = {
  status: schema('status', 'each instance, and whether it could be recovered now', {
    at: time,
    items: z.array(InstanceStatus),
    drills: DrillDue,
  }),
} as const;
