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
 * Seconds that a wall clock is ahead of the time since boot. Comparable only within one `boot`, a fingerprint
 * of machine and boot.
 */
export type ClockMark = { readonly boot: string; readonly leadSeconds: number };

export interface Clock {
  /** Seconds that it moved beyond the time passed since the last call; 0 for a correct clock. */
  moved(): number;
  /** Undefined if the system does not provide one. */
  mark(): ClockMark | undefined;
}

export interface RunDeps {
  readonly journal: Journal;
  readonly runbook: Runbook;
  readonly runId: string;
  readonly instance: string;
  /** The other instance that a recovery goes into; its ledger is held as well. */
  readonly target?: string | undefined;
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly take: TakeSecret;
  readonly now: () => Date;
  /** Watches the clock behind the journal's times; without it, its changes go unnoticed. */
  readonly clock?: Clock | undefined;
  /** Stores a checkpoint outside the store: before any byte of a change, and when the run is left or over. */
  readonly seal: () => Promise<void>;
  /** If the service refuses the credentials, leave with exit code 4 instead of waiting. */
  readonly leaveWhenPaused: boolean;
  /** Milliseconds that a call under way may take to answer after the operator leaves. */
  readonly leaveGraceMs?: number | undefined;
  /**
   * Fields for the body of `run.resumed` and notes after it, when a process takes the run up. Rejects if that
   * process may not continue the run. Called under the hold, before anything is written or sent.
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
   * Called before a valid answer is taken. The notes become durable either way; with a `refusal` the answer
   * is not taken, and the run keeps its state.
   */
  check(
    state: RunState,
    answer: Answer,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
  /**
   * What a waiting run calls for without an answer, at each look: notes, or an event of the machine. Once
   * that is written, it must not be returned again.
   */
  due?(state: RunState): Due | undefined;
  /**
   * Called just before any call is armed. The notes become durable either way; with a `refusal` nothing is
   * armed, and the step fails with it.
   */
  mayArm(
    entries: RunState['entries'],
    call: CallToArm,
  ): Promise<{ readonly notes: readonly Note[]; readonly refusal?: LifeboatError }>;
}

/** A run in this process: the fold of its journal. Everything it does is written first. */
export interface Run {
  state(): RunState;
  subscribe(listener: () => void): () => void;
  answer(answer: Answer): Promise<void>;
  /**
   * Moves the machine by an event that no question asks for, such as the outcome of a plan's children.
   * `notes` become durable with it. Rejects with `answer.misfit`, changing nothing, if the state does not
   * take it.
   */
  tell(event: MachineEvent, notes?: readonly Note[]): Promise<void>;
  /** Records notes without moving the machine. */
  note(notes: readonly Note[]): Promise<void>;
  wake(): void;
  /**
   * Leaves the run, resumable. The first `why` goes to its journal; default: the operator left. `awaits`:
   * what it waits for beyond its own state, such as a plan whose children all wait for people.
   */
  detach(why?: string, awaits?: Awaits): Promise<void>;
  readonly ended: Promise<RunEnd>;
  /** Until the run has ended in this process. */
  readonly holds: readonly Hold[];
}
