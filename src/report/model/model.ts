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

/**
 * An objective against what was measured. Seconds; `undefined` where there is no limit or no measure. `why`
 * tells what is missing of a recovery that was given up or is not shown.
 */
const Objective = z.object({
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
  /** How the recovery point was measured, with its two ends. */
  point: z
    .object({
      by: z.enum(['data', 'restored_from', 'chosen-time']),
      recoveredTo: z.string(),
      lostAt: z.string(),
      lostBy: z.string(),
      /** The most that can have been lost, where the data was counted some time before the restore. */
      mostLostMs: z.number().optional(),
      /** Why it is not measured by the data, although the data was asked. */
      because: z.string().optional(),
    })
    .optional(),
});
export type Measured = z.infer<typeof Measured>;

/** The words under which a report asks for what only people know. */
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
 * The record of a run, complete and without form: every renderer writes it down, and as JSON it is exactly
 * this. All texts are printable and cut to a length; times are RFC 3339, lengths of time in seconds unless
 * their name says otherwise.
 */
export const Report = z.object({
  schema: z.literal('lifeboat.report/1'),
  generatedAt: z.string(),
  title: z.string(),
  /**
   * What a reader has to see before anything else: everything by which the run went past what it is there to
   * show.
   */
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
    /** By the operator's clock; none while the run is open, or where that clock was set back unwatched. */
    seconds: z.number().optional(),
    clockSetBack: z.boolean(),
    /**
     * By how much that clock was moved while the run watched it, each time; less than zero for back. Lengths
     * of time do not count it.
     */
    clockMovedSeconds: z.array(z.number()),
    /** How far the clock of the service was ahead of this machine's. */
    serviceClockAheadSeconds: z.number().optional(),
    tool: z.object({ name: z.string(), version: z.string(), node: z.string() }).optional(),
    entries: z.number(),
  }),
  outcome: z.object({
    status: z.enum(['closed', 'abandoned', 'open']),
    proven: z.boolean().optional(),
    text: z.string(),
    failure: z.string().optional(),
    followUps: z.number(),
  }),
  people: z.array(Person),
  plan: z.object({
    /**
     * SHA-256 of the plan and the facts that an approval was asked for, and what became of that: only `given`
     * is an approved plan.
     */
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
  /** What a drill saw of the databases after the run, by asking them and not the run. */
  comparison: Compared.omit({ run: true }).extend({ at: z.string() }).optional(),
  /** The follow-ups of the run, closed ones too. */
  followUps: z.array(FollowUpRow),
  /** Ids of the follow-ups that take away what a drill or a recovery has left behind. */
  cleanup: z.array(z.string()),
  rotation: Rotation.optional(),
  decisions: z.array(Decision),
  mayApprove: MayApprove,
  approvals: z.array(Approval),
  deviations: z.array(Deviation),
  issues: z.array(Issue),
  changes: z.array(Change),
  entries: z.array(Line),
  ledger: z.array(Line),
  evidence: z.object({
    /** The leaf hash of the run's last entry, whole. */
    head: z.string().optional(),
    /** Of the whole store, when the report was made. */
    anchor: z.string().optional(),
    /** The signed checkpoint of that moment, line by line. */
    signedHead: z.array(z.string()).optional(),
    files: z.array(z.object({ name: z.string(), sha256: z.string() })),
    transcript: z.object({ lines: z.number(), bytes: z.number(), sha256: z.string() }).optional(),
    /** What makes the bundle that holds the files with their hashes. */
    bundle: z.string(),
    verify: z.string(),
  }),
  /** What no journal can know, for a person to write in; never filled in by the program. */
  blanks: z.array(z.object({ in: BlankIn, label: z.string(), value: z.null() })),
  signOff: z.array(z.object({ role: z.string(), name: z.null(), date: z.null(), statement: z.string() })),
});
export type Report = z.infer<typeof Report>;
