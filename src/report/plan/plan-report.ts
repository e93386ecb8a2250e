import * as z from 'zod';
import { Objective, Report } from '../model/model.ts';
import { Approval, Decision, Line, Person } from '../model/model-rows.ts';

/** `left out`: the step does not belong to this run, by `when` or `rehearsal`. */
const StepState = z.enum([
  'done',
  'failed',
  'skipped',
  'done outside',
  'open',
  'not begun',
  'left out',
  'taken out',
]);
export type StepState = z.infer<typeof StepState>;

const PlanStepRow = z.object({
  id: z.string(),
  what: z.string(),
  state: StepState,
  /** The runs of the step, the attempts in order. Empty for one that no run did. */
  runs: z.array(
    z.object({
      run: z.string(),
      attempt: z.number(),
      runbook: z.string(),
      result: z.enum(['done', 'failed', 'open']),
      startedAt: z.string(),
      endedAt: z.string().optional(),
      where: z.string().optional(),
      cause: z.string().optional(),
    }),
  ),
});
export type PlanStepRow = z.infer<typeof PlanStepRow>;

const PlanLane = z.object({
  /** The instance, or `-` in a group without any. */
  name: z.string(),
  target: z.string().optional(),
  wave: z.number(),
  state: z.enum(['done', 'failed', 'open', 'left open', 'not begun', 'not run', 'taken out']),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  steps: z.array(PlanStepRow),
  rpo: Objective.optional(),
});
export type PlanLane = z.infer<typeof PlanLane>;

const Span = z.object({ from: z.string(), until: z.string() });

const PlanGroup = z.object({
  id: z.string(),
  about: z.string().optional(),
  phase: z.enum(['groups', 'healthy', 'finally']),
  after: z.array(z.string()),
  /** Missing while it has not ended. */
  ended: z.enum(['done', 'stopped', 'not-run']).optional(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  seconds: z.number().optional(),
  /** The waves that began. `until`: the end of the last of their steps, or the last entry of the record. */
  waves: z.array(Span.extend({ wave: z.number(), lanes: z.array(z.string()) })),
  /** Times in which it waited for a person. */
  held: z.array(Span.extend({ why: z.string() })),
  /** From the incident, or the start of the run, to the end of the group. */
  rto: Objective.optional(),
  /** The worst of its instances; missing where nothing is restored. */
  rpo: Objective.optional(),
  lanes: z.array(PlanLane),
});
export type PlanGroup = z.infer<typeof PlanGroup>;

const PlanDeviation = z.object({
  at: z.string(),
  by: z.string(),
  kind: z.enum([
    'skipped',
    'done outside',
    'taken out',
    'taken up again',
    'continued without',
    'went on regardless',
    'tried again',
    'paused',
    'stopped',
    'source changed',
    'in a step',
  ]),
  what: z.string(),
  reason: z.string(),
});
export type PlanDeviation = z.infer<typeof PlanDeviation>;

/** The headings of blanks for people to fill in. */
const BlankIn = z.enum(['asked', 'people', 'objectives', 'return', 'issues', 'signOff']);

/**
 * The record of a plan's run and everything that it started: its JSON is exactly this. All texts are
 * printable and limited in length; times are RFC 3339, durations in seconds.
 */
export const PlanReport = z.object({
  schema: z.literal('lifeboat.plan-report/1'),
  generatedAt: z.string(),
  title: z.string(),
  alarms: Report.shape.alarms,
  run: z.object({
    id: z.string(),
    plan: z.string(),
    /** SHA-256 of the text of the plan that the run pinned. */
    sha256: z.string(),
    kind: z.enum(['real', 'rehearsal']),
    /** Whether the sources counted as reachable, at the end of the record. */
    source: z.enum(['up', 'down']),
    operator: z.string(),
    incidentAt: z.string().optional(),
    startedAt: z.string(),
    endedAt: z.string().optional(),
    seconds: z.number().optional(),
    /** Whether the clock of the machine that drove it was set during the run. */
    clockMoved: z.boolean(),
    tool: z.object({ name: z.string(), version: z.string(), node: z.string() }),
    entries: z.number(),
  }),
  outcome: Report.shape.outcome.omit({ failure: true, followUps: true }),
  /** In the words of the plan; missing where it has none. */
  asked: z.object({
    purpose: z.string().optional(),
    activation: z.string().optional(),
    deactivation: z.string().optional(),
    contacts: z.array(
      z.object({ name: z.string(), role: z.string().optional(), reach: z.string().optional() }),
    ),
    /** Each instance once, with its target. */
    scope: z.array(z.object({ instance: z.string(), target: z.string().optional() })),
  }),
  measured: z.object({
    status: z.enum(['running', 'over', 'given-up']),
    since: z.enum(['incident', 'run']),
    from: z.string(),
    until: z.string(),
    /** To the last green of the checks below `healthy`. */
    rto: Objective,
    /** The worst of all instances; missing where nothing was restored. */
    rpo: Objective.optional(),
  }),
  groups: z.array(PlanGroup),
  people: z.array(Person),
  approvals: z.array(Approval.extend({ run: z.string() })),
  decisions: z.array(Decision),
  deviations: z.array(PlanDeviation),
  /** How each step that was begun is taken back, as the plan says. */
  undo: z.array(
    z.object({ group: z.string(), step: z.string(), what: z.string(), undo: z.string().optional() }),
  ),
  /** Those of all children, including closed ones. */
  followUps: z.array(
    z.object({ run: z.string(), what: z.string(), owner: z.string(), closed: z.string().optional() }),
  ),
  /**
   * Checks of the data, and comparisons with the time before (DORA Art. 12(7)); a figure that is only
   * recorded has no `good`.
   */
  reconciliations: z.array(
    z.object({ run: z.string(), at: z.string(), what: z.string(), good: z.boolean().optional() }),
  ),
  open: z.array(z.string()),
  /** The rules for such a record; `answer` is missing where it is unknown. */
  requirements: z.array(
    z.object({ rule: z.string(), asks: z.string(), section: z.string(), answer: z.string().optional() }),
  ),
  entries: z.array(Line),
  evidence: Report.shape.evidence,
  blanks: z.array(z.object({ in: BlankIn, label: z.string(), value: z.null() })),
  signOff: Report.shape.signOff,
});
export type PlanReport = z.infer<typeof PlanReport>;
