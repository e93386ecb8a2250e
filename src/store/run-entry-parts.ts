import * as z from 'zod';
import { Closure, FollowUp } from '../../machines/parts/follow-up.ts';
import { lazily } from '../base/lazily.ts';

/**
 * A failure as it was written down. It has the shape of the machines' failures, but is a schema of its own:
 * what is in old journals stays readable whatever the machines do later.
 */
export const WrittenFailure = () =>
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

export const Verdict = () => z.enum(['landed', 'absent', 'ambiguous', 'nothing']);

/**
 * How many seconds a machine's wall clock is ahead of the time since its start, which nobody can set.
 * Comparable only with a mark of the same `boot`, a fingerprint of the machine and its start.
 */
export const ClockMark = () => z.object({ boot: z.string(), leadSeconds: z.number() });

/** Who drives a run or makes a call: as the config names them, and as the machine knows the process. */
export const Who = lazily(() =>
  z.object({
    name: z.string(),
    email: z.string().optional(),
    /** Of the process, as the system has it, whatever the config or the environment says. */
    login: z.string(),
    /** Undefined where the system has none. */
    uid: z.int().optional(),
    host: z.string(),
    /** SHA-256, hex, of the config file. */
    config: z.string(),
  }),
);
export type Who = z.output<ReturnType<typeof Who>>;

/** What needs a second person: nothing, what replaces data, or all that cannot be taken back. */
const ApprovalLevel = () => z.enum(['none', 'overwrites', 'destructive']);
export type ApprovalLevel = z.output<ReturnType<typeof ApprovalLevel>>;

/** What a file said, so that a later look at it can tell what has come and what has gone. */
const KeptFile = () =>
  z.object({
    /** SHA-256, hex; empty where the file could not be read. */
    sha256: z.string(),
    /** Its lines without remarks, each as the first 32 hex digits of its SHA-256. */
    lines: z.array(z.string()),
    /** Why the file could not be read. */
    problem: z.string().optional(),
  });

/** What a second person has to approve, and who that can be, as config and files had it. */
export const ApprovalPolicy = () =>
  z.object({
    /** By the name of each instance of the run. */
    required: z.record(z.string(), ApprovalLevel()),
    /** How long a request may be signed and used. Undefined, like the files, if no approvals are set up. */
    expiresSeconds: z.number().optional(),
    signers: KeptFile()
      .extend({
        /** Whom the first lines name, and with which key (`SHA256:...`). */
        people: z.array(z.object({ names: z.string(), key: z.string() })),
      })
      .optional(),
    revoked: KeptFile().optional(),
  });
export type ApprovalPolicy = z.output<ReturnType<typeof ApprovalPolicy>>;
