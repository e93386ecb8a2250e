import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { type Entry, fieldsOf, type NewEntry } from './journal.ts';
import {
  ApprovalPolicy,
  ClockMark,
  Verdict,
  Who,
  WrittenFailure,
  WrittenFollowUp,
} from './run-entry-parts.ts';

/**
 * The bodies of the entries of a `run/<id>` stream, by type. Readers must tolerate types that are not here
 * and fields they do not know: a newer version may have written them.
 */
export const RUN_ENTRIES = {
  'run.started': lazily(() =>
    z.object({
      runbook: z.string(),
      version: z.string(),
      instance: z.string(),
      /** The instance that a recovery goes into, when it is another one. */
      target: z.string().optional(),
      input: z.json(),
      mode: z.enum(['LIVE', 'REHEARSAL']),
      /** What the run is measured against, as the config had it when it began. */
      objectives: z
        .object({ rtoSeconds: z.number().optional(), rpoSeconds: z.number().optional() })
        .optional(),
      /** Where the instances are, and with which revision of the interface, as the config had it then. */
      services: z.array(z.object({ instance: z.string(), url: z.string(), revision: z.string() })).optional(),
      tool: z.object({ name: z.string(), version: z.string(), node: z.string() }),
      operator: z.string(),
      /** Undefined in records of earlier versions, as `approvals` is. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
      clock: ClockMark().optional(),
    }),
  ),
  'run.resumed': lazily(() =>
    z.object({
      by: z.string().optional(),
      pid: z.int(),
      clock: ClockMark().optional(),
      /** Keys that the run needs and this key store lacked, by fingerprint: entered now, or done without. */
      keys: z.partialRecord(z.enum(['entered', 'without']), z.array(z.string()).optional()).optional(),
      /** Where it differs from what the record said before. */
      who: Who().optional(),
      approvals: ApprovalPolicy().optional(),
    }),
  ),
  /** What moved the machine; `to` is the path of the state after it, `title` that state's name for people. */
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
  /** From here on the next byte may leave. */
  'intent.armed': lazily(() =>
    z.object({
      intent: z.string(),
      verb: z.string(),
      /** By the clock of who armed it, which need not stamp entries; first, if sent again. RFC 3339. */
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
      /** An answer said that nothing was done; with `unknown`, the service shows what speaks against it. */
      refused: z.literal(true).optional(),
      /** When the answer was lost, or the refusal came, by the clock of who sent the call. RFC 3339. */
      lostAt: z.string().optional(),
      /** The call was turned away unread: it may be armed once more after so many milliseconds. */
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
  /** What a second person has to agree to before the run goes on. The text is signed byte for byte. */
  'approval.asked': lazily(() =>
    z.object({
      /** The first 16 hex digits of the SHA-256 of the text. */
      challenge: z.string(),
      text: z.string(),
      target: z.string(),
      /** What is confirmed, as an order. */
      order: z.string(),
      /** SHA-256, hex, of the plan and the facts that the order rests on. */
      plan: z.string(),
      requester: z.string(),
      expiresAt: z.string(),
    }),
  ),
  /** A signature over the challenge that verified against the allowed signers of that moment. */
  'approval.given': lazily(() =>
    z.object({
      challenge: z.string(),
      /** The principal, as the file of allowed signers names it. */
      approver: z.string(),
      /** Fingerprint of the approver's public key as `ssh-keygen -l` prints it: `SHA256:...`. */
      key: z.string(),
      publicKey: z.string(),
      /** Armored, as `ssh-keygen -Y sign` writes it. */
      signature: z.string(),
      method: z.enum(['ssh', 'lifeboat']),
      /** SHA-256, hex, of the file of allowed signers. */
      allowedSigners: z.string(),
      /** The line of that file that allowed the key: with it the signature is verified without the file. */
      allowedBy: z.string().optional(),
      /** RFC 3339: the moment that counted for the end of request and key, if not by this machine's clock. */
      moment: z.string().optional(),
    }),
  ),
  /** The approval, or the request for it, was taken back; `approver` is who did that. */
  'approval.withdrawn': lazily(() =>
    z.object({ challenge: z.string(), approver: z.string(), reason: z.string() }),
  ),
  /** Break-glass: the step went on without the second person. */
  'approval.bypassed': lazily(() =>
    z.object({ challenge: z.string(), order: z.string(), reason: z.string() }),
  ),
  /** Break-glass: the run was taken up although the config asks for less approval than when it began. */
  'approval.weakened': lazily(() =>
    z.object({
      reason: z.string(),
      changes: z.array(z.object({ what: z.string(), begun: z.string(), now: z.string() })),
    }),
  ),
  /** How far the transcript of requests reached when this process had done its part. */
  'transcript.kept': lazily(() =>
    z.object({
      lines: z.int(),
      bytes: z.int(),
      /** Of the file's first `bytes` bytes, hex. */
      sha256: z.string(),
      /** Why it ends early, when it could not be written. */
      problem: z.string().optional(),
    }),
  ),
  /** The transcript of what was sent until now lies on another machine: `host`, where the record knows it. */
  'transcript.elsewhere': lazily(() => z.object({ host: z.string().optional() })),
  /** A task took longer than it should. Written once for each limit that was passed. */
  'activity.overdue': lazily(() =>
    z.object({
      activity: z.string(),
      verb: z.string(),
      seconds: z.number(),
      limitSeconds: z.number(),
      /** The limit comes from the instance's own finished tasks, the objective, or else a default. */
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
  'run.detached': lazily(() => z.object({ why: z.string() })),
  /**
   * The wall clock of this machine moved otherwise than time passed, ahead or (less than zero) back, and so
   * did what stamps entries, or not.
   */
  'clock.moved': lazily(() => z.object({ seconds: z.number(), entries: z.literal('unmoved').optional() })),
  'run.closed': lazily(() =>
    z.object({
      outcome: z.string(),
      /** The outcome in words. */
      title: z.string().optional(),
      proven: z.boolean(),
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

/** An entry whose type is known and whose body fits it. */
export type RunEntry = {
  [T in RunEntryType]: { readonly type: T; readonly body: RunEntryBody<T> };
}[RunEntryType];

/** A new entry of a run. A body that does not fit its schema throws a ZodError, a bug of the caller. */
export function runEntry<T extends RunEntryType>(
  runId: string,
  type: T,
  body: z.input<ReturnType<(typeof RUN_ENTRIES)[T]>>,
): NewEntry {
  // Parsing drops fields that are undefined or unknown, so what is left is JSON.
  return {
    stream: `run/${runId}`,
    type,
    body: RUN_ENTRIES[type]().parse(body) as NewEntry['body'],
  };
}

/** The typed reading of an entry; `undefined` for a type or body that this version does not know. */
export function readRunEntry(entry: Pick<Entry, 'type' | 'body'>): RunEntry | undefined {
  if (!Object.hasOwn(RUN_ENTRIES, entry.type)) return undefined;
  const type = entry.type as RunEntryType;
  const parsed = RUN_ENTRIES[type]().safeParse(entry.body);
  return parsed.success ? ({ type, body: parsed.data } as RunEntry) : undefined;
}

/** Whether an entry ends its run: only the first such one of a stream counts. */
export function isEnd({ type }: Pick<Entry, 'type'>): boolean {
  return ENDS.has(type);
}

/** Whether the product itself may have written an entry behind the end of its run. */
export function mayFollowEnd({ type }: Pick<Entry, 'type'>): boolean {
  return MAY_FOLLOW.has(type);
}

const ENDS: ReadonlySet<string> = new Set(['run.closed', 'run.abandoned']);
/** Written without a look at the end: by who waited for the run meanwhile, or takes an approval back. */
const MAY_FOLLOW: ReadonlySet<string> = new Set(['run.resumed', 'approval.withdrawn']);

/**
 * What the first entry of a run says that sets its limits: since when time counts (the incident, where
 * somebody said so), and the objectives. Nothing for an entry of another kind.
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
