import * as z from 'zod';
import { runId, seconds, time } from '../../base/fields.ts';
import { NamedRun, RunEnding } from '../../store/projections/run-summary.ts';
import { list, schema } from './result.ts';

const delivery = {
  target: z.string().describe('as lifeboat.yaml names it'),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().optional().describe('of HTTP'),
  why: z.string().optional().describe('a code, such as timeout, ECONNREFUSED or exit 3'),
};

/** What concerns notifications. */
export const notify = {
  notification: schema('notification', 'what a target of `notify` gets', {
    id: z.string().describe('the same at each attempt: ignore one that you have had'),
    event: z.enum(['question', 'rto', 'ended', 'drill-due', 'drill-failed', 'test']),
    since: time.describe('since when this has been so, RFC 3339'),
    text: z.string().describe('one sentence for people'),
    command: z.string().describe('what goes on with it, to copy'),
    run: runId.optional().describe('missing where it is about no run, as the next fields are'),
    ...NamedRun.omit({ runId: true }).partial().shape,
    title: z.string().optional().describe('of the question'),
    outcome: RunEnding.optional().describe('how the run ended'),
    objective: z.object({ rtoSeconds: seconds, elapsedSeconds: seconds }).optional(),
    drill: z.string().optional().describe('the id of the drill that failed'),
  }),
  'notify-send': list(
    'notify-send',
    'the attempts that `notify send` made',
    z.object({ ...delivery, id: z.string(), event: z.string() }),
  ),
  'notify-test': list(
    'notify-test',
    'what each target said to a test notification',
    z.object({ ...delivery, said: z.string().optional().describe('the beginning of its answer') }),
  ),
};
