import * as z from 'zod';
import { Compared } from '../../store/recovery-facts.ts';
import {
  Approval,
  Change,
  Check,
  Course,
  Decision,
  Deviation,
  Fact,
  FollowUpRow,
  Issue,
  Line,
  MayApprove,
  Person,
  Rotation,
} from './model-rows.ts';

/** Seconds. `why`: what is missing for a recovery that was given up or is not shown. */
export const Objective = z.object({
  limitSeconds: z.number().optional(),
  measuredSeconds: z.number().optional(),
  result: z.enum(['met', 'missed', 'given up', 'not decided', 'does not apply']),
  why: z.string().optional(),
});

const Slices = z.object({
  decide: z.number(),
  queue: z.number(),
  execute: z.number(),
  human: z.number(),
  rebind: z.number(),
});

const Measured = z.object({
  status: z.enum(['running', 'over', 'given-up']),
  since: z.enum(['incident', 'run']),
  from: z.string(),
  until: z.string(),
  rto: Objective,
  rpo: Objective,
  /** Seconds; they add up to the measured recovery time. */
  slices: Slices,
  notes: z.array(z.string()),
  restores: z.boolean(),
  point: z
    .object({
      by: z.enum(['data', 'restored_from', 'chosen-time']),
      recoveredTo: z.string(),
      lostAt: z.string(),
      lostBy: z.string(),
      /** The maximum loss, if the data was counted some time before the restore. */
      mostLostMs: z.number().optional(),
      /** Why it is not measured by the data, although the data was queried. */
      because: z.string().optional(),
    })
    .optional(),
});
export type Measured = z.infer<typeof Measured>;

/** The headings of blanks for people to fill in. */
const BlankIn = z.enum([
  'people',
  'scope',
  'plan',
  'instances',
  'objectives',
  'checks',
  'issues',
  'rotation',
  'signOff',
]);

/**
 * The record of a run: every renderer writes it, and its JSON is exactly this. All texts are printable and
 * limited in length; times are RFC 3339, durations in seconds unless their name says otherwise.
 */
export const Report = z.object({
  schema: z.literal('lifeboat.report/1'),
  generatedAt: z.string(),
  title: z.string(),
  /** What a reader must see first: everything in which the run deviated from its purpose. */
  alarms: z.array(z.object({ title: z.string(), text: z.string(), at: z.string(), by: z.string() })),
  run: z.object({
    id: z.string(),
    kind: z.enum(['real', 'rehearsal', 'unknown']),
    runbook: z.string().optional(),
    version: z.string().optional(),
    instance: z.string().optional(),
    target: z.string().optional(),
    mode: z.string().optional(),
    operator: z.string().optional(),
    reason: z.string().optional(),
    incidentAt: z.string().optional(),
    startedAt: z.string().optional(),
    endedAt: z.string().optional(),
    /** By the operator's clock; undefined while the run is open, or if that clock was set back unobserved. */
    seconds: z.number().optional(),
    clockSetBack: z.boolean(),
    /** Each observed adjustment of that clock, negative for back. Durations exclude it. */
    clockMovedSeconds: z.array(z.number()),
    /** How far the clock of the service was ahead of this machine's. */
    serviceClockAheadSeconds: z.number().optional(),
    /** The step of a plan's run that it is. */
    plan: z
      .object({ run: z.string(), group: z.string(), step: z.string(), lane: z.string(), attempt: z.number() })
      .optional(),
    tool: z.object({ name: z.string(), version: z.string(), node: z.string() }).optional(),
    entries: z.number(),
  }),
  outcome: z.object({
    status: z.enum(['closed', 'abandoned', 'open']),
    proven: z.boolean().optional(),
    /** The service has said that it is simulated, so the run proves nothing. */
    simulated: z.literal(true).optional(),
    text: z.string(),
    failure: z.string().optional(),
    followUps: z.number(),
  }),
  people: z.array(Person),
  plan: z.object({
    /** SHA-256 of the plan and the facts of each approval request; only `given` means approved. */
    asked: z.array(z.object({ sha256: z.string(), state: Approval.shape.state })),
  }),
  measured: Measured.optional(),
  facts: z.array(Fact).optional(),
  recoveryPoint: z.array(Fact),
  source: z.array(Fact),
  changed: z.array(Fact),
  course: Course.optional(),
  checks: z.array(Check),
  reconciliation: z.array(
    z.object({ when: z.string(), at: z.string(), newest: z.string(), count: z.string(), said: z.string() }),
  ),
  /** Of the databases, queried by a drill after the run. */
  comparison: Compared.omit({ run: true }).extend({ at: z.string() }).optional(),
  /** The follow-ups of the run, including closed ones. */
  followUps: z.array(FollowUpRow),
  /** Ids of the follow-ups that remove what a drill or a recovery left behind. */
  cleanup: z.array(z.string()),
  rotation: Rotation.optional(),
  /** Who could open sealed copies of the keys when the run ended, and when each has shown it. */
  custody: z.array(Fact).default([]),
  decisions: z.array(Decision),
  mayApprove: MayApprove,
  approvals: z.array(Approval),
  deviations: z.array(Deviation),
  issues: z.array(Issue),
  changes: z.array(Change),
  entries: z.array(Line),
  ledger: z.array(Line),
  evidence: z.object({
    /** The whole leaf hash of the run's last entry. */
    head: z.string().optional(),
    /** Of the whole store, when the report was made. */
    anchor: z.string().optional(),
    /** The signed checkpoint of that moment, by line. */
    signedHead: z.array(z.string()).optional(),
    files: z.array(z.object({ name: z.string(), sha256: z.string() })),
    transcript: z.object({ lines: z.number(), bytes: z.number(), sha256: z.string() }).optional(),
    /** The command that creates the bundle of the files with their hashes. */
    bundle: z.string(),
    verify: z.string(),
  }),
  /** For people to write in; never filled in by the program. */
  blanks: z.array(z.object({ in: BlankIn, label: z.string(), value: z.null() })),
  signOff: z.array(z.object({ role: z.string(), name: z.null(), date: z.null(), statement: z.string() })),
});
export type Report = z.infer<typeof Report>;
