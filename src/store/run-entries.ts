import * as z from 'zod';
import { Closure, FollowUp } from '../../machines/parts/follow-up.ts';
import { lazily } from '../base/lazily.ts';
import { type Entry, fieldsOf, type NewEntry } from './journal.ts';

/** Which step of a plan's run a run is. */
export const PlanChild = () =>
  z.object({
    /** The run of the plan. */
    run: z.string(),
    group: z.string(),
    step: z.string(),
    /** The instance, or `-` in a group without any. */
    lane: z.string(),
    /** From 1. */
    attempt: z.number(),
  });
export type PlanChild = z.infer<ReturnType<typeof PlanChild>>;

/**
 * That a run is left to the workers, and what a person has answered in advance: whether the recommended
 * answer is given to every question that has one, and the names that confirm destructive steps.
 */
export const ForWorkers = () => z.object({ yes: z.boolean(), confirm: z.array(z.string()) });
export type ForWorkers = z.infer<ReturnType<typeof ForWorkers>>;

/**
 * What a run waits for that its process has left: a person, or credentials that the service accepts. Any
 * process may go on with a run that waits for neither.
 */
const Awaits = () => z.enum(['person', 'credentials']);
export type Awaits = z.infer<ReturnType<typeof Awaits>>;

/**
 * The bodies of the entries of a `run/<id>` stream, by type. Readers must tolerate unknown types and fields:
 * a newer version may have written them.
 */
const RUN_ENTRIES = {
  'run.started': lazily(() =>
    z.object({
      runbook: z.string(),
      version: z.string(),
      instance: z.string(),
      /** The instance that a recovery goes into, if it is another one. */
      target: z.string().optional(),
      input: z.json(),
      mode: z.enum(['LIVE', 'REHEARSAL']),
      /** The run's objectives, from the config when it began. */
      objectives: z
        .object({ rtoSeconds: z.number().optional(), rpoSeconds: z.number().optional() })
        .optional(),
      /** The addresses of the instances and their revision of the interface, from the config at that time. */
      services: z.array(z.object({ instance: z.string(), url: z.string(), revision: z.string() })).optional(),
      tool: z.object({ name: z.string(), version: z.string(), node: z.string() }),
      operator: z.string(),
      /** Undefined in records of earlier versions, as `approvals` is. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
      clock: ClockMark().optional(),
      /** The step of a plan's run that it is. */
      plan: PlanChild().optional(),
      /** Missing for a run that the process which begins it drives. */
      workers: ForWorkers().optional(),
    }),
  ),
  'run.resumed': lazily(() =>
    z.object({
      by: z.string().optional(),
      pid: z.int(),
      clock: ClockMark().optional(),
      /** Keys, by fingerprint, that the run needs and this key store lacked: entered now, or done without. */
      keys: z.partialRecord(z.enum(['entered', 'without']), z.array(z.string()).optional()).optional(),
      /** Only if it differs from the record so far. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
    }),
  ),
  /** The event that moved the machine; `to` is the path of the next state, `title` its name for people. */
  event: lazily(() =>
    z.object({
      event: z.object({ type: z.string() }).catchall(z.json()),
      to: z.string(),
      title: z.string().optional(),
    }),
  ),
  /**
   * `activity` is the machine's invoke id, `verb` its source, `key` the intent id of a `once` verb, `begunAt`
   * when its process took it up.
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
      /**
       * By the clock of the process that armed it, which may not be the one that stamps entries;
       * `firstArmedAt` if it was sent again. RFC 3339.
       */
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
      /** When the answer was lost, or the refusal came, by the sender's clock. RFC 3339. */
      lostAt: z.string().optional(),
      /** The call was rejected unread: it may be armed once more after this many milliseconds. */
      againMs: z.number().optional(),
    }),
  ),
  /** What the service showed after a lost answer. */
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
  /** The operator's decision, in one transaction with the event it became. */
  answer: lazily(() =>
    z.object({
      event: z.string(),
      label: z.string().optional(),
      reason: z.string().optional(),
    }),
  ),
  /** What a second person must approve before the run continues. The text is signed byte for byte. */
  'approval.asked': lazily(() =>
    z.object({
      /** The first 16 hex digits of the SHA-256 of the text. */
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
  /** A signature over the challenge that verified against the allowed signers at that moment. */
  'approval.given': lazily(() =>
    z.object({
      challenge: z.string(),
      /** The principal, as named in the allowed-signers file. */
      approver: z.string(),
      /** Fingerprint of the approver's public key as `ssh-keygen -l` prints it: `SHA256:...`. */
      key: z.string(),
      publicKey: z.string(),
      /** Armored, as `ssh-keygen -Y sign` writes it. */
      signature: z.string(),
      method: z.enum(['ssh', 'lifeboat']),
      /** SHA-256, hex, of the allowed-signers file. */
      allowedSigners: z.string(),
      /**
       * The line of that file that allowed the key: with it the signature can be verified without the file.
       */
      allowedBy: z.string().optional(),
      /** RFC 3339: the moment used to check the expiry of request and key, if not by this machine's clock. */
      moment: z.string().optional(),
    }),
  ),
  /** The approval, or the request for it, was withdrawn by `approver`. */
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
      /** SHA-256 of the file's first `bytes` bytes, hex. */
      sha256: z.string(),
      /** Why it ends early, if it could not be written. */
      problem: z.string().optional(),
    }),
  ),
  /** The transcript of the requests so far is on another machine: `host`, if recorded. */
  'transcript.elsewhere': lazily(() => z.object({ host: z.string().optional() })),
  /** A task took longer than expected. Written once for each limit that it passed. */
  'activity.overdue': lazily(() =>
    z.object({
      activity: z.string(),
      verb: z.string(),
      seconds: z.number(),
      limitSeconds: z.number(),
      /**
       * The limit comes from the instance's own finished tasks, otherwise the objective, otherwise a default.
       */
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
   * clock that stamps entries did not move with it.
   */
  'clock.moved': lazily(() => z.object({ seconds: z.number(), entries: z.literal('unmoved').optional() })),
  'run.closed': lazily(() =>
    z.object({
      outcome: z.string(),
      /** The outcome in words. */
      title: z.string().optional(),
      proven: z.boolean(),
      /** The service has said that it is simulated. */
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
      /** All follow-ups of the run, closed ones too. */
      followUps: z.array(WrittenFollowUp()).optional(),
      failure: WrittenFailure().optional(),
    }),
  ),
  'run.abandoned': lazily(() => z.object({ reason: z.string() })),
} as const;

export type RunEntryType = keyof typeof RUN_ENTRIES;
export type RunEntryBody<T extends RunEntryType> = z.output<ReturnType<(typeof RUN_ENTRIES)[T]>>;

/** An entry of a known type whose body matches its schema. */
export type RunEntry = {
  [T in RunEntryType]: { readonly type: T; readonly body: RunEntryBody<T> };
}[RunEntryType];

/**
 * Creates an entry of a run. A body that does not match its schema throws a ZodError, a bug of the caller.
 */
export function runEntry<T extends RunEntryType>(
  runId: string,
  type: T,
  body: z.input<ReturnType<(typeof RUN_ENTRIES)[T]>>,
): NewEntry {
  // Parsing drops undefined and unknown fields, so the rest is JSON.
  return {
    stream: `run/${runId}`,
    type,
    body: RUN_ENTRIES[type]().parse(body) as NewEntry['body'],
  };
}

/** An entry, typed; `undefined` for a type or body that this version does not know. */
export function readRunEntry(entry: Pick<Entry, 'type' | 'body'>): RunEntry | undefined {
  if (!Object.hasOwn(RUN_ENTRIES, entry.type)) return undefined;
  const type = entry.type as RunEntryType;
  const parsed = RUN_ENTRIES[type]().safeParse(entry.body);
  return parsed.success ? ({ type, body: parsed.data } as RunEntry) : undefined;
}

/** Whether an entry ends its run; only the first such entry of a stream counts. */
export function isEnd({ type }: Pick<Entry, 'type'>): boolean {
  return ENDS.has(type);
}

/** Whether the product itself may write an entry of this type after the end of its run. */
export function mayFollowEnd({ type }: Pick<Entry, 'type'>): boolean {
  return MAY_FOLLOW.has(type);
}

const ENDS: ReadonlySet<string> = new Set(['run.closed', 'run.abandoned']);
/** Written without checking for the end: by a process that waited for the run, or to withdraw an approval. */
const MAY_FOLLOW: ReadonlySet<string> = new Set(['run.resumed', 'approval.withdrawn']);

/**
 * The limits in the first entry of a run: when its time begins (the incident, if stated), and the objectives.
 * Empty for an entry of another type.
 */
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

/**
 * A failure as recorded. It has the shape of the machines' failures, but a schema of its own, so that old
 * journals stay readable when the machines change.
 */
const WrittenFailure = () =>
  z.object({
    code: z.string(),
    shortMessage: z.string(),
    hints: z.array(z.string()).default([]),
    evidence: z.record(z.string(), z.json()).default({}),
  });

/**
 * A follow-up of a run and how it was closed, as written at the end of the run. Kinds and ways that this
 * version does not know are read too.
 */
export const WrittenFollowUp = () =>
  FollowUp()
    .omit({ commands: true, doable: true })
    .extend({ kind: z.string(), closed: WrittenClosure().optional() });
export type WrittenFollowUp = z.output<ReturnType<typeof WrittenFollowUp>>;

export const WrittenClosure = () => Closure().extend({ how: z.string() });
export type WrittenClosure = z.output<ReturnType<typeof WrittenClosure>>;

const Verdict = () => z.enum(['landed', 'absent', 'ambiguous', 'nothing']);

/**
 * How many seconds a machine's wall clock is ahead of its time since boot, which cannot be set. Comparable
 * only with a mark of the same `boot`, a fingerprint of the machine and its boot.
 */
const ClockMark = () => z.object({ boot: z.string(), leadSeconds: z.number() });

/** Who drives a run or makes a call, according to the config, and according to the system. */
export const Who = lazily(() =>
  z.object({
    name: z.string(),
    email: z.string().optional(),
    /** From the system's data about the process, regardless of config and environment. */
    login: z.string(),
    /** Undefined if the system has none. */
    uid: z.int().optional(),
    host: z.string(),
    /** SHA-256, hex, of the config file. */
    config: z.string(),
  }),
);
export type Who = z.output<ReturnType<typeof Who>>;

/** What needs a second person: nothing, what overwrites data, or everything irreversible. */
const ApprovalLevel = () => z.enum(['none', 'overwrites', 'destructive']);
export type ApprovalLevel = z.output<ReturnType<typeof ApprovalLevel>>;

/** The content of a file in digests, so that a later check can tell which lines were added and removed. */
const KeptFile = () =>
  z.object({
    /** SHA-256, hex; empty if the file could not be read. */
    sha256: z.string(),
    /** Its lines without comments, each as the first 32 hex digits of its SHA-256. */
    lines: z.array(z.string()),
    /** Why the file could not be read. */
    problem: z.string().optional(),
  });

/** What a second person must approve, and who that can be, according to config and files. */
export const ApprovalPolicy = () =>
  z.object({
    /** By instance name. */
    required: z.record(z.string(), ApprovalLevel()),
    /** How long a request may be signed and used. Undefined, as are the files, if no approvals are set up. */
    expiresSeconds: z.number().optional(),
    signers: KeptFile()
      .extend({
        /** The principals of the first lines, with their keys (`SHA256:...`). */
        people: z.array(z.object({ names: z.string(), key: z.string() })),
      })
      .optional(),
    revoked: KeptFile().optional(),
  });
export type ApprovalPolicy = z.output<ReturnType<typeof ApprovalPolicy>>;
