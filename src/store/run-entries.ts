import * as z from 'zod';
import { Closure, FollowUp } from '../../machines/parts/follow-up.ts';
import { lazily } from '../base/lazily.ts';
import { type Entry, fieldsOf, type NewEntry } from './journal.ts';

/** The step of a plan's run. */
export const PlanChild = () =>
  z.object({
    /** Of the plan. */
    run: z.string(),
    group: z.string(),
    step: z.string(),
    /** `-` in a group without instances. */
    lane: z.string(),
    /** From 1. */
    attempt: z.number(),
  });
export type PlanChild = z.infer<ReturnType<typeof PlanChild>>;

/**
 * For a run that is left to the workers, answers given in advance: `yes` gives the recommended answer to
 * every question that has one; `confirm` names what destructive steps may confirm.
 */
export const ForWorkers = () => z.object({ yes: z.boolean(), confirm: z.array(z.string()) });
export type ForWorkers = z.infer<ReturnType<typeof ForWorkers>>;

/** What a run waits for that no process has. One that waits for neither may be continued by any process. */
const Awaits = () => z.enum(['person', 'credentials']);
export type Awaits = z.infer<ReturnType<typeof Awaits>>;

/** The entries of `run/<id>`, by type. Readers must tolerate unknown types and fields of newer versions. */
const RUN_ENTRIES = {
  'run.started': lazily(() =>
    z.object({
      runbook: z.string(),
      version: z.string(),
      instance: z.string(),
      /** If it is another instance. */
      target: z.string().optional(),
      input: z.json(),
      mode: z.enum(['LIVE', 'REHEARSAL']),
      /** From the config when the run began. */
      objectives: z
        .object({ rtoSeconds: z.number().optional(), rpoSeconds: z.number().optional() })
        .optional(),
      /** With the revision of the interface, from the config at that time. */
      services: z.array(z.object({ instance: z.string(), url: z.string(), revision: z.string() })).optional(),
      tool: z.object({ name: z.string(), version: z.string(), node: z.string() }),
      operator: z.string(),
      /** Undefined, as `approvals` is, in records of earlier versions. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
      clock: ClockMark().optional(),
      plan: PlanChild().optional(),
      /** Missing if the beginning process drives the run. */
      workers: ForWorkers().optional(),
    }),
  ),
  'run.resumed': lazily(() =>
    z.object({
      by: z.string().optional(),
      pid: z.int(),
      clock: ClockMark().optional(),
      /** Fingerprints that the run needs and this key store lacked: entered now, or done without. */
      keys: z.partialRecord(z.enum(['entered', 'without']), z.array(z.string()).optional()).optional(),
      /** If different from the record so far. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
    }),
  ),
  /** Moved the machine; `to` is the path of the next state, `title` its name for people. */
  event: lazily(() =>
    z.object({
      event: z.object({ type: z.string() }).catchall(z.json()),
      to: z.string(),
      title: z.string().optional(),
    }),
  ),
  /**
   * `activity` is the invoke id, `verb` its source, `key` a `once` verb's intent id, `begunAt` the take-up.
   */
  'activity.begun': lazily(() =>
    z.object({
      activity: z.string(),
      verb: z.string(),
      kind: z.enum(['read', 'repeatable', 'attended', 'once']),
      key: z.string(),
      input: z.json(),
      begunAt: z.string().optional(),
    }),
  ),
  'intent.prepared': lazily(() =>
    z.object({
      intent: z.string(),
      verb: z.string(),
      baseline: z.json(),
    }),
  ),
  /** From here on a byte of the call may be sent. */
  'intent.armed': lazily(() =>
    z.object({
      intent: z.string(),
      verb: z.string(),
      /** RFC 3339, by the arming process's clock, not always the journal's; `firstArmedAt` if sent again. */
      armedAt: z.string().optional(),
      firstArmedAt: z.string().optional(),
    }),
  ),
  'intent.outcome': lazily(() =>
    z.object({
      intent: z.string(),
      verb: z.string(),
      sent: z.enum(['landed', 'absent', 'unknown']),
      failure: WrittenFailure().optional(),
      output: z.json().optional(),
      /** The answer was a refusal; with `unknown`, the service shows evidence against it. */
      refused: z.literal(true).optional(),
      /** Of the answer or the refusal, by the sender's clock. RFC 3339. */
      lostAt: z.string().optional(),
      /** Rejected unread: the call may be armed once more after this many milliseconds. */
      againMs: z.number().optional(),
    }),
  ),
  /** After a lost answer. */
  'intent.judged': lazily(() =>
    z.object({
      intent: z.string(),
      verb: z.string(),
      verdict: Verdict(),
      evidence: z.json().optional(),
      output: z.json().optional(),
      failure: WrittenFailure().optional(),
    }),
  ),
  /** The operator's, in one transaction with the event that it became. */
  answer: lazily(() =>
    z.object({
      event: z.string(),
      label: z.string().optional(),
      reason: z.string().optional(),
    }),
  ),
  /** A second person must approve it before the run continues. The text is signed byte for byte. */
  'approval.asked': lazily(() =>
    z.object({
      /** The first 16 hex digits of the text's SHA-256. */
      challenge: z.string(),
      text: z.string(),
      target: z.string(),
      /** The thing to confirm, in the imperative. */
      order: z.string(),
      /** SHA-256, hex, of the plan and the facts that the order depends on. */
      plan: z.string(),
      requester: z.string(),
      expiresAt: z.string(),
    }),
  ),
  /** The signature over the challenge verified against the allowed signers at that moment. */
  'approval.given': lazily(() =>
    z.object({
      challenge: z.string(),
      /** As named in the allowed-signers file. */
      approver: z.string(),
      /** `SHA256:...`, as `ssh-keygen -l` prints it. */
      key: z.string(),
      publicKey: z.string(),
      /** Armored, as `ssh-keygen -Y sign` writes it. */
      signature: z.string(),
      method: z.enum(['ssh', 'lifeboat']),
      /** SHA-256, hex. */
      allowedSigners: z.string(),
      /** The line that allowed the key: the signature can be verified with it, without the file. */
      allowedBy: z.string().optional(),
      /** RFC 3339: the moment for the expiry of request and key, if not by this machine's clock. */
      moment: z.string().optional(),
    }),
  ),
  /** By `approver`: the approval, or the request for it. */
  'approval.withdrawn': lazily(() =>
    z.object({ challenge: z.string(), approver: z.string(), reason: z.string() }),
  ),
  /** Break-glass: the step continued without the second person. */
  'approval.bypassed': lazily(() =>
    z.object({ challenge: z.string(), order: z.string(), reason: z.string() }),
  ),
  /** Break-glass: the run was resumed although the config requires less approval than when it began. */
  'approval.weakened': lazily(() =>
    z.object({
      reason: z.string(),
      changes: z.array(z.object({ what: z.string(), begun: z.string(), now: z.string() })),
    }),
  ),
  /** How far the transcript of requests reached when this process finished its part. */
  'transcript.kept': lazily(() =>
    z.object({
      lines: z.int(),
      bytes: z.int(),
      /** Of the first `bytes` bytes, hex. */
      sha256: z.string(),
      /** Why it could not be written to the end. */
      problem: z.string().optional(),
    }),
  ),
  /** On another machine so far: `host`, if recorded. */
  'transcript.elsewhere': lazily(() => z.object({ host: z.string().optional() })),
  /** A task took longer than expected; once for each limit that it passed. */
  'activity.overdue': lazily(() =>
    z.object({
      activity: z.string(),
      verb: z.string(),
      seconds: z.number(),
      limitSeconds: z.number(),
      /** From the instance's own finished tasks, otherwise the objective, otherwise a default. */
      basis: z.enum(['history', 'objective', 'default']),
      detail: z.string().optional(),
    }),
  ),
  'run.paused': lazily(() =>
    z.object({
      reason: z.literal('credentials'),
      failure: WrittenFailure(),
    }),
  ),
  'run.detached': lazily(() => z.object({ why: z.string(), awaits: Awaits().optional() })),
  /**
   * This machine's wall clock differs from the time that passed, ahead or (below zero) behind. `unmoved`: the
   * clock that stamps entries did not move.
   */
  'clock.moved': lazily(() => z.object({ seconds: z.number(), entries: z.literal('unmoved').optional() })),
  'run.closed': lazily(() =>
    z.object({
      outcome: z.string(),
      title: z.string().optional(),
      proven: z.boolean(),
      /** The service said so. */
      simulated: z.literal(true).optional(),
      summary: z.array(
        z.object({
          label: z.string(),
          value: z.union([z.string(), z.number()]),
          unit: z.string().optional(),
          tone: z.string().optional(),
        }),
      ),
      deviations: z.array(z.object({ step: z.string(), reason: z.string() })),
      /** Closed ones too. */
      followUps: z.array(WrittenFollowUp()).optional(),
      failure: WrittenFailure().optional(),
    }),
  ),
  'run.abandoned': lazily(() => z.object({ reason: z.string() })),
} as const;

export type RunEntryType = keyof typeof RUN_ENTRIES;
export type RunEntryBody<T extends RunEntryType> = z.output<ReturnType<(typeof RUN_ENTRIES)[T]>>;

export type RunEntry = {
  [T in RunEntryType]: { readonly type: T; readonly body: RunEntryBody<T> };
}[RunEntryType];

/** A body that does not match its schema throws a ZodError, a bug of the caller. */
export function runEntry<T extends RunEntryType>(
  runId: string,
  type: T,
  body: z.input<ReturnType<(typeof RUN_ENTRIES)[T]>>,
): NewEntry {
  // Parsing drops undefined and unknown fields: the rest is JSON.
  return {
    stream: `run/${runId}`,
    type,
    body: RUN_ENTRIES[type]().parse(body) as NewEntry['body'],
  };
}

/** Undefined for a type or body that this version does not know. */
export function readRunEntry(entry: Pick<Entry, 'type' | 'body'>): RunEntry | undefined {
  if (!Object.hasOwn(RUN_ENTRIES, entry.type)) return undefined;
  const type = entry.type as RunEntryType;
  const parsed = RUN_ENTRIES[type]().safeParse(entry.body);
  return parsed.success ? ({ type, body: parsed.data } as RunEntry) : undefined;
}

/** Only the first such entry of a stream counts. */
export function isEnd({ type }: Pick<Entry, 'type'>): boolean {
  return ENDS.has(type);
}

/** Whether the product may write such an entry after the run's end. */
export function mayFollowEnd({ type }: Pick<Entry, 'type'>): boolean {
  return MAY_FOLLOW.has(type);
}

const ENDS: ReadonlySet<string> = new Set(['run.closed', 'run.abandoned']);
/** Written without looking for the end: by a process that waited for the run, or to withdraw an approval. */
const MAY_FOLLOW: ReadonlySet<string> = new Set(['run.resumed', 'approval.withdrawn']);

/** From a run's first entry: `from` is the incident, if stated, or its begin. Empty for other entries. */
export function promisedBy(started: Entry | undefined): {
  readonly from: string | undefined;
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
} {
  const read = started === undefined ? undefined : readRunEntry(started);
  if (started === undefined || read?.type !== 'run.started') return { from: undefined };
  const { input, objectives } = read.body;
  const { incidentAt } = fieldsOf(input);
  return { from: typeof incidentAt === 'string' ? incidentAt : started.at, ...objectives };
}

/** Like the machines' failures, with its own schema, so that old journals stay readable when those change. */
const WrittenFailure = () =>
  z.object({
    code: z.string(),
    shortMessage: z.string(),
    hints: z.array(z.string()).default([]),
    evidence: z.record(z.string(), z.json()).default({}),
  });

/** As written at the run's end. Unknown kinds and ways are read too. */
export const WrittenFollowUp = () =>
  FollowUp()
    .omit({ commands: true, doable: true })
    .extend({ kind: z.string(), closed: WrittenClosure().optional() });
export type WrittenFollowUp = z.output<ReturnType<typeof WrittenFollowUp>>;

export const WrittenClosure = () => Closure().extend({ how: z.string() });
export type WrittenClosure = z.output<ReturnType<typeof WrittenClosure>>;

const Verdict = () => z.enum(['landed', 'absent', 'ambiguous', 'nothing']);

/**
 * Seconds that a wall clock is ahead of the time since boot, which cannot be set. Comparable only within one
 * `boot`, a fingerprint of machine and boot.
 */
const ClockMark = () => z.object({ boot: z.string(), leadSeconds: z.number() });

/** By the config, and by the system. */
export const Who = lazily(() =>
  z.object({
    name: z.string(),
    email: z.string().optional(),
    /** The system's, whatever config and environment say. */
    login: z.string(),
    /** If the system has one. */
    uid: z.int().optional(),
    host: z.string(),
    /** SHA-256, hex. */
    config: z.string(),
  }),
);
export type Who = z.output<ReturnType<typeof Who>>;

/** Nothing, what overwrites data, or everything irreversible. */
const ApprovalLevel = () => z.enum(['none', 'overwrites', 'destructive']);
export type ApprovalLevel = z.output<ReturnType<typeof ApprovalLevel>>;

/** In digests, so that a later check can tell which lines were added and removed. */
const KeptFile = () =>
  z.object({
    /** Hex; empty if the file could not be read. */
    sha256: z.string(),
    /** Without comments; the first 32 hex digits of each line's SHA-256. */
    lines: z.array(z.string()),
    problem: z.string().optional(),
  });

/** What a second person must approve, and who that can be, by config and files. */
export const ApprovalPolicy = () =>
  z.object({
    /** By instance name. */
    required: z.record(z.string(), ApprovalLevel()),
    /** How long a request may be signed and used. Undefined, as the files, if no approvals are set up. */
    expiresSeconds: z.number().optional(),
    signers: KeptFile()
      .extend({
        /** Principals of the first lines, with keys (`SHA256:...`). */
        people: z.array(z.object({ names: z.string(), key: z.string() })),
      })
      .optional(),
    revoked: KeptFile().optional(),
  });
export type ApprovalPolicy = z.output<ReturnType<typeof ApprovalPolicy>>;
