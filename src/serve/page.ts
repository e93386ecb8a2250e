import * as z from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { instance, runId, seconds, time } from '../base/fields.ts';
import { InstanceVerdict } from '../plans/evaluation-schema.ts';
import { DrillDue, DrillRecord } from '../report/drill/drill-report.ts';
import { Finding } from '../store/projections/evaluations.ts';
import { RunSummary } from '../store/projections/run-summary.ts';

/*
 * The pages as data: what a page draws, and what its JSON twin is. Every text is printable on one line, holds
 * no fingerprint, and no name of a person where names are masked.
 */

const count = z.int().nonnegative();
const tone = z.enum(['plain', 'good', 'warn', 'bad', 'dim']);

const head = {
  at: time.describe('the moment that the page shows'),
  log: z.object({
    size: count.describe('how many entries the page has read'),
    root: z.string().describe('the root of the log at its head, 64 hex digits'),
  }),
  title: z.string().describe('what the page is about'),
  headline: z.string().describe('mode, state, since when, who drives it, what waits for whom'),
  tone,
  text: z.string().describe('the page in plain text, to paste: several lines'),
};

const change = z.object({
  at: time,
  /** `run/ID` without its prefix where it is a run. */
  about: z.string().describe('the instance or the run that it is about'),
  runId: runId.optional(),
  text: z.string(),
  tone,
});

const followUp = z.object({
  what: z.string(),
  owner: z.string(),
  instance,
  runId: runId.optional().describe('absent once its run is over'),
  ageSeconds: seconds.optional(),
  leftSeconds: seconds.optional().describe('until it is due; negative once it is overdue'),
});

const asked = z.object({
  prompt: z.string(),
  whom: z.string().describe('whom it waits for'),
  runId: runId.optional(),
  count: count.describe('how many ask it'),
  since: time.optional(),
});

const objective = z.object({
  name: z.enum(['RTO', 'RPO']),
  limitSeconds: seconds.optional(),
  valueSeconds: seconds.optional(),
  running: z.boolean(),
  tone,
  words: z.string(),
});

const LaneIs = z.enum([
  'later',
  'ready',
  'stopped',
  'not-run',
  'at-work',
  'waiting',
  'answered',
  'failing',
  'failed',
  'out',
  'left',
  'done',
]);

const clocks = {
  objectives: z.array(objective),
  forecast: z.string().optional().describe('when it should end, by earlier runs; absent if none shows it'),
};

const shared = {
  changes: z.array(change).describe('of the last ten minutes, the newest first'),
  followUps: z.array(followUp).describe('that are open'),
  asks: z.array(asked).describe('what waits for a person'),
  more: z.object({ changes: count, followUps: count }).describe('how many more there are of each'),
};

const run = RunSummary.omit({ version: true }).extend({ driver: z.string().optional() });

const verdict = z.object({
  subject: z.string().describe('an instance; plan.NAME for a plan'),
  verdict: InstanceVerdict,
  reason: z.string(),
  since: time.describe('since when the verdict is this one'),
  recordedAt: time.describe('when it was put on record; one that finds nothing new is not'),
  askedAt: time.optional().describe('when the home of this page evaluated it last; absent if it never did'),
  findings: z.array(Finding),
});

/** The shapes of the JSON twins, by the name of their schema. */
export const PAGES = {
  'page-board': {
    ...head,
    ...shared,
    runs: z.array(run).describe('the open runs that are no steps of a plan, oldest first'),
    ended: z.array(run).describe('the newest that are over'),
    verdicts: z.array(verdict),
    unevaluated: z.array(instance).describe('instances of the config without an evaluation on record'),
    drills: DrillDue,
  },
  'page-run': {
    ...head,
    ...clocks,
    ...shared,
    run,
    steps: z.array(
      z.object({
        title: z.string(),
        state: z.enum(['done', 'open', 'current', 'ahead', 'skipped', 'failed']),
        seconds: seconds.optional(),
        note: z.string().optional(),
      }),
    ),
    doing: z.string().optional(),
    trouble: z.string().optional().describe('what the run warns of, in one line'),
    facts: z.array(z.object({ label: z.string(), value: z.string(), tone })),
  },
  'page-plan': {
    ...head,
    ...clocks,
    ...shared,
    run,
    plan: z.string(),
    groups: z.array(
      z.object({
        id: z.string(),
        words: z.string(),
        tone,
        wave: z.object({ at: count, of: count }),
        counts: z.object({
          done: count,
          atWork: count,
          waiting: count,
          failed: count,
          later: count,
          out: count,
          left: count,
        }),
        firstFailure: z.string().optional().describe('the first lane that failed, and why'),
        lanes: z.array(
          z.object({
            name: z.string(),
            target: instance.optional(),
            is: LaneIs,
            state: z.string(),
            tone,
            words: z.string(),
            step: z.string().optional().describe('the step that it is at, and of how many'),
            runId: runId.optional(),
            since: time.optional(),
          }),
        ),
      }),
    ),
  },
  'page-evaluation': {
    ...head,
    verdicts: z.array(verdict),
    unevaluated: z.array(instance),
  },
  'page-drills': {
    ...head,
    due: DrillDue,
    drills: z.array(
      z.object({
        id: z.string(),
        scope: z.string(),
        outcome: DrillRecord.shape.outcome,
        at: time,
        chapters: count,
        proven: count.describe('how many chapters are proven'),
      }),
    ),
    rehearsals: z
      .array(
        z.object({ name: z.string(), does: z.string(), next: time.optional(), lastRan: time.optional() }),
      )
      .describe('what workers rehearse and evaluate by the clock'),
  },
} as const;

export type PageName = keyof typeof PAGES;
export type PageOf<Name extends PageName> = DeepReadonly<z.infer<z.ZodObject<(typeof PAGES)[Name]>>>;
export type Head = Pick<PageOf<'page-evaluation'>, keyof typeof head>;
export type Shared = Pick<PageOf<'page-board'>, keyof typeof shared>;
export type Change = Shared['changes'][number];
export type FollowUpRow = Shared['followUps'][number];
export type Asked = Shared['asks'][number];
export type RunRow = PageOf<'page-run'>['run'];
export type VerdictRow = PageOf<'page-evaluation'>['verdicts'][number];
export type Objective = PageOf<'page-run'>['objectives'][number];
export type PlanGroup = PageOf<'page-plan'>['groups'][number];
export type PlanLane = PlanGroup['lanes'][number];
export type Tone = Head['tone'];
