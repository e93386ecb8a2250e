import type { AnyMachineSnapshot } from 'xstate';
import type { Answer } from '../../machines/parts/question.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import type { AnyActivity, Progress } from '../activities/activity.ts';
import type { ExitCode, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Journal, Json } from '../store/journal.ts';
import type { TakeSecret } from './answer.ts';
import type { Note } from './performed.ts';

/** What is known of a run at this moment: the fold of its journal, and what is under way. */
export interface RunState {
  readonly runId: string;
  readonly instance: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly entries: readonly Entry[];
  readonly activity:
    | { readonly verb: string; readonly since: string; readonly progress: Progress | undefined }
    | undefined;
  /** Set while the run waits for a credential that the service accepts. */
  readonly paused: Failure | undefined;
}

export interface RunEnd {
  readonly exitCode: ExitCode;
  readonly how: 'ended' | 'detached' | 'paused';
}

/**
 * How the wall clock of a machine stands to the time since it was started: seconds that it is ahead.
 * Comparable with another mark of the same `boot` only, a fingerprint of the machine and its start.
 */
export type ClockMark = { readonly boot: string; readonly leadSeconds: number };

/** The wall clock of this machine, held against the time that has passed. */
export interface Clock {
  /**
   * Seconds by which it has moved otherwise than time has passed since this was last asked; 0 for one that
   * goes right.
   */
  moved(): number;
  /** How it stands now; undefined where the system does not tell. */
  mark(): ClockMark | undefined;
}

export interface RunDeps {
  readonly journal: Journal;
  readonly runbook: Runbook;
  readonly runId: string;
  readonly instance: string;
  /** The instance that a recovery goes into, when it is another one; its ledger is held as well. */
  readonly target?: string | undefined;
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly take: TakeSecret;
  readonly now: () => Date;
  /** Watches the clock behind the journal's times. Without it, what that clock does is not noticed. */
  readonly clock?: Clock | undefined;
  /**
   * Puts a checkpoint of the log outside the store: before anything may leave that changes something, and
   * when the run is left or over.
   */
  readonly seal: () => Promise<void>;
  /** Leave with exit code 4 instead of waiting when the service refuses the credentials. */
  readonly leaveWhenPaused: boolean;
  /** How long a call that is under way may take to answer when the operator leaves. Milliseconds. */
  readonly leaveGraceMs?: number;
  /**
   * What the record is to say of whoever takes the run up, where that is news to it: in the body of
   * `run.resumed`, and as notes after it. Rejects where they may not carry it on as things are. Called while
   * the run is held, before anything is written or sent.
   */
  readonly admit?: (entries: readonly Entry[]) => Admitted | Promise<Admitted>;
  /** Who else has to agree before an answer is taken; nobody without it. */
  readonly gate?: Gate | undefined;
  /** Called once the run and its ledgers are held by this process, and awaited before anything goes on. */
  readonly held?: () => Promise<void>;
  /**
   * What the record is to say when this process has done its part: beside the close (`isOver`), or beside the
   * leaving.
   */
  readonly lastNotes?: (isOver: boolean) => readonly Note[];
  /** Called after each step that is durable; what it throws does not affect the run. */
  readonly stepped?: (state: RunState) => void;
}

/** What is new to the record of whoever takes a run up. */
export interface Admitted {
  readonly resumed: Readonly<Record<string, Json>>;
  readonly notes: readonly Note[];
}

/** A call that is about to be armed, or begun where it may be repeated. */
export interface CallToArm {
  readonly verb: string;
  readonly input: unknown;
}

/** A second pair of eyes on answers and calls: approvals by other people stand behind it. */
export interface Gate {
  /**
   * What the record is to say beside the event that led to this state, for instance what has to be approved.
   * Sends nothing.
   */
  arrived(state: RunState): readonly Note[];
  /**
   * Called with an answer that fits its question, before it is taken. The notes become durable either way;
   * with a `refusal` the answer is not taken and the run stays where it is.
   */
  check(
    state: RunState,
    answer: Answer,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
  /**
   * Called in the last instant before a call is armed, by whatever way the run came there. The notes become
   * durable either way; with a `refusal` nothing is armed, and the step fails with it.
   */
  mayArm(
    entries: RunState['entries'],
    call: CallToArm,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
}

/**
 * A run in this process. Everything it shows is the fold of its journal; everything it does is written
 * before.
 */
export interface Run {
  state(): RunState;
  subscribe(listener: () => void): () => void;
  answer(answer: Answer): Promise<void>;
  wake(): void;
  /**
   * Leaves it, resumable. `why` is for its journal; of several reasons the first stands, and without one the
   * operator left.
   */
  detach(why?: string): Promise<void>;
  readonly ended: Promise<RunEnd>;
}
