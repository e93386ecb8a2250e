import * as z from 'zod';
import { Closure, FollowUp } from '../../machines/parts/follow-up.ts';
import { lazily } from '../base/lazily.ts';

/**
 * A failure as recorded. It has the shape of the machines' failures, but a schema of its own, so that old
 * journals stay readable when the machines change.
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
 * How many seconds a machine's wall clock is ahead of its time since boot, which cannot be set. Comparable
 * only with a mark of the same `boot`, a fingerprint of the machine and its boot.
 */
export const ClockMark = () => z.object({ boot: z.string(), leadSeconds: z.number() });

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
