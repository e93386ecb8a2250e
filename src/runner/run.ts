import type { AnyMachineSnapshot } from 'xstate';
import type { Answer } from '../../machines/parts/question.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import type { AnyActivity, Progress } from '../activities/activity.ts';
import type { ExitCode, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Hold, Journal, Json } from '../store/journal.ts';
import type { Awaits } from '../store/run-entries.ts';
import type { TakeSecret } from './answer.ts';
import type { MachineEvent } from './fold.ts';
import type { Note } from './performed.ts';

/** A run at this moment: the fold of its journal, and what is under way. */
export interface RunState {
  readonly runId: string;
  readonly instance: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly entries: readonly Entry[];
  readonly activity:
    | { readonly verb: string; readonly since: string; readonly progress: Progress | undefined }
    | undefined;
  /** Set while the run waits for credentials that the service accepts. */
  readonly paused: Failure | undefined;
}

export interface RunEnd {
  readonly exitCode: ExitCode;
  readonly how: 'ended' | 'detached' | 'paused';
}

/**
 * How many seconds a machine's wall clock is ahead of the time since its boot. Comparable only with a mark of
 * the same `boot`, a fingerprint of the machine and its boot.
 */
export type ClockMark = { readonly boot: string; readonly leadSeconds: number };

/** Compares this machine's wall clock with the time that passed. */
export interface Clock {
  /** Seconds that it moved relative to the time that passed since the last call; 0 for a correct clock. */
  moved(): number;
  /** The present mark; undefined if the system does not provide one. */
  mark(): ClockMark | undefined;
}

export interface RunDeps {
  readonly journal: Journal;
  readonly runbook: Runbook;
  readonly runId: string;
  readonly instance: string;
  /** The instance that a recovery goes into, if it is another one; its ledger is held as well. */
  readonly target?: string | undefined;
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly take: TakeSecret;
  readonly now: () => Date;
  /** Watches the clock behind the journal's times. Without it, changes of that clock go unnoticed. */
  readonly clock?: Clock | undefined;
  /**
   * Stores a checkpoint of the log outside the store: before any byte of a change may be sent, and when the
   * run is left or over.
   */
  readonly seal: () => Promise<void>;
  /** If the service refuses the credentials, leave with exit code 4 instead of waiting. */
  readonly leaveWhenPaused: boolean;
  /** Milliseconds that a call under way may take to answer after the operator leaves. */
  readonly leaveGraceMs?: number;
  /**
   * Returns what is new to the record when a process takes the run up: fields for the body of `run.resumed`,
   * and notes after it. Rejects if that process may not continue the run. Called while the run is held,
   * before anything is written or sent.
   */
  readonly admit?: (entries: readonly Entry[]) => Admitted | Promise<Admitted>;
  /** Approval by other people before an answer is taken; none without it. */
  readonly gate?: Gate | undefined;
  /** Called once this process holds the run and its ledgers, and awaited before anything continues. */
  readonly held?: () => Promise<void>;
  /** The last notes of this process: with the close of the run (`isOver`), or with its leaving. */
  readonly lastNotes?: (isOver: boolean) => readonly Note[];
  /** Called after each durable step; errors it throws do not affect the run. */
  readonly stepped?: (state: RunState) => void;
}

/** What is new to the record when a process takes a run up. */
export interface Admitted {
  readonly resumed: Readonly<Record<string, Json>>;
  readonly notes: readonly Note[];
}

/** A call that is about to be armed, or begun if it is repeatable. */
export interface CallToArm {
  readonly verb: string;
  readonly input: unknown;
}

/** What is due in a run that waits. */
export type Due = { readonly notes: readonly Note[] } | { readonly event: MachineEvent };

/** A check of answers and calls, used for approvals by other people. */
export interface Gate {
  /** Notes to write with the event that led to this state, such as what must be approved. Sends nothing. */
  arrived(state: RunState): readonly Note[];
  /**
   * Called with a valid answer before it is taken. The notes become durable either way; with a `refusal` the
   * answer is not taken and the run stays in its state.
   */
  check(
    state: RunState,
    answer: Answer,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
  /**
   * What a run that waits calls for without an answer, whenever a process looks at it: notes, or an event of
   * the machine. Undefined if nothing. What it returns once, it does not call for again when that is written.
   */
  due?(state: RunState): Due | undefined;
  /**
   * Called in the last instant before a call is armed, however the run got there. The notes become durable
   * either way; with a `refusal` nothing is armed, and the step fails with it.
   */
  mayArm(
    entries: RunState['entries'],
    call: CallToArm,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
}

/**
 * A run in this process. Everything it shows is the fold of its journal; everything it does is written first.
 */
export interface Run {
  state(): RunState;
  subscribe(listener: () => void): () => void;
  answer(answer: Answer): Promise<void>;
  /**
   * Moves the machine by an event that no question asks for, such as what became of the children of a plan's
   * run; `notes` become durable with it. Rejects with `answer.misfit`, changing nothing, where it leads
   * nowhere.
   */
  tell(event: MachineEvent, notes?: readonly Note[]): Promise<void>;
  /** Puts notes on record that move nothing. */
  note(notes: readonly Note[]): Promise<void>;
  wake(): void;
  /**
   * Leaves the run, resumable. `why` goes to its journal; the first of several reasons counts, and without
   * one the operator left. `awaits`: what it waits for that its own state does not show, such as a plan whose
   * children all wait for people.
   */
  detach(why?: string, awaits?: Awaits): Promise<void>;
  readonly ended: Promise<RunEnd>;
  /** The holds of this process on the run and its ledgers, until it has ended here. */
  readonly holds: readonly Hold[];
}
