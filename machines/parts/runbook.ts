import type { AnyStateMachine } from 'xstate';
import type { z } from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import type { CallsByHand, FallbackStep } from './fallback-step.ts';
import type { FollowUp } from './follow-up.ts';
import type { OperatorEvent, OtherWay, Question, QuestionOption } from './question.ts';
import type { Touches } from './touches.ts';

/** The view's vocabulary. `in-doubt` decides the exit code of a run that stops there without a terminal. */
export type StateTag =
  | 'question'
  | 'destructive'
  | 'waiting'
  | 'followUp'
  | 'in-doubt'
  | 'failed'
  | 'done'
  /** A restore is under way at the service, or may be, and its follow-ups are not listed yet. */
  | 'sent'
  /** A run without trouble does not pass it. */
  | 'aside';

/**
 * A call of the service that a state makes. The dry run, the prose and the fallback script all take it from
 * here. Paths as in service-api.md section 4.1.
 */
export interface PlannedCall {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly what: string;
  /** Which instance it goes to; the run's own by default. */
  readonly on?: 'target' | undefined;
  /** What has to hold before it is made, in one sentence. */
  readonly needs?: string | undefined;
  /** What cannot be undone once it is made, in one sentence. */
  readonly forever?: string;
  /** The run goes on without it where the service does not have it. */
  readonly optional?: boolean | undefined;
  /** Not in the fallback script: its answer is of no use to a person who reads it there. */
  readonly notByHand?: boolean;
}

/**
 * The slices that a recovery's time is reported in: until the decision, in the service's queue, at work,
 * waiting for a person, until the applications run again.
 */
export type TimeSlice = 'decide' | 'queue' | 'execute' | 'human' | 'rebind';

/** What a phase has to go by when it says what is left of it. */
export interface Left<Context> {
  readonly context: Context;
  /**
   * The run's state when it is in this phase or in one before it that has no part in the script; undefined
   * when the phase lies ahead.
   */
  readonly at: string | undefined;
  /** The run's state in any case. */
  readonly state: string;
  /** The name of the phase on the page. */
  readonly key: string;
  /** The calls that the runbook plans; a part adds values and words to them. */
  readonly calls: CallsByHand;
}

/** What is left of a phase for a person without lifeboat. */
export type FallbackPart<Context> = (left: Left<Context>) => readonly FallbackStep[];

/**
 * What every state says about itself, and every phase, which is a state that holds others. `Context` is the
 * machine's own.
 */
export interface StateMeta<Context, Event extends OperatorEvent> {
  readonly title: string;
  /** For a phase that several runbooks share: under which name it is described and drawn once. */
  readonly like?: string;
  /** Whether a run passes the phase or the state, as far as it is known; always where nothing is said. */
  readonly when?: ((context: Context) => boolean) | undefined;
  /** For a phase: what is left of it for a person without lifeboat. */
  readonly fallback?: FallbackPart<Context> | undefined;
  readonly question?: (context: Context) => Question<Event>;
  /** Reasons against what the state does, if any; shown before it is done. */
  readonly warning?: ((context: Context) => string | undefined) | undefined;
  /**
   * What may be done while the state's verb is under way, which asks and changes nothing. The machine takes
   * these events in the state; they are offered once the verb takes longer than it should.
   */
  readonly beside?: (context: Context) => readonly QuestionOption<Event>[];
  readonly calls?: readonly PlannedCall[];
  /** Calls of the platform or commands outside the service, for the plan: words, not paths. */
  readonly does?: readonly string[];
  /**
   * Which slice of the recovery time passes in this state, or in all of this phase; a question's is always
   * `human`.
   */
  readonly slice?: TimeSlice | undefined;
  /** For a state that changes something: what the way back is, in one sentence. */
  readonly wayBack?: string;
}

/**
 * A fact beside the prose. Values are raw; the view formats and cleans them. Times are RFC 3339, durations
 * seconds.
 */
export interface Fact {
  readonly label: string;
  readonly value: string | number;
  readonly unit?: 'bytes' | 'time' | 'seconds' | 'days';
  readonly tone?: 'good' | 'warn' | 'bad';
}

/** Facts about one thing, under a title of one or two words. */
export interface FactGroup {
  readonly title: string;
  readonly facts: readonly Fact[];
}

/** What a run leaves when its machine has ended. */
export interface Closing {
  readonly outcome: 'done' | 'done-unproven' | 'stopped';
  /** True only when the thing the runbook exists for was shown by evidence of this run. */
  readonly proven: boolean;
  readonly title: string;
  /** The service has said that it is simulated: whatever came of the run, it proves nothing. */
  readonly simulated?: true;
  /** What it has found and done, most important first; no group is empty. */
  readonly summary: readonly FactGroup[];
  readonly deviations: readonly { readonly step: string; readonly reason: string }[];
  /** The instance into which this run may have restored something, where it does not know what came of it. */
  readonly unknown?: string;
  /** Follow-ups that it has handed to the ledger of the instance, each in one line: they outlive the run. */
  readonly leaves?: readonly string[];
}

/** One recovery flow: its machine and what the rest of the program needs to know of it. */
export interface Runbook<Context = never, Input = unknown> {
  readonly id: string;
  readonly title: string;
  /** What one run does, where the title leaves that open. */
  readonly titleOf?: (context: Context) => string;
  /**
   * Bumped when states, invoke ids or verbs change; a run is resumed with the version that it was begun with.
   */
  readonly version: string;
  readonly machine: AnyStateMachine;
  /** The machine of a run with this input, where that decides which states there are. */
  readonly machineFor?: (input: unknown) => AnyStateMachine;
  readonly input: z.ZodType<Input>;
  /** What a run with this input does to its instances. */
  readonly touches: (input: unknown) => Touches;
  readonly facts: (context: Context) => readonly Fact[];
  readonly failure: (context: Context) => Failure | undefined;
  /** What leads on from a run that was stopped at a failure; see `OtherWay`. */
  readonly waysOn?: (context: Context) => readonly OtherWay[];
  readonly skipped: (context: Context) => readonly { readonly step: string; readonly reason: string }[];
  /**
   * The follow-ups of the run, open or closed; missing for a runbook that leaves none. With the state that
   * the run was left in, also those of a change that it may have asked for.
   */
  readonly followUps?: (context: Context, state?: string) => readonly FollowUp[];
  /** Fingerprints of the keys of the run's instance that what is still to be done cannot do without. */
  readonly keys?: (context: Context) => readonly string[];
  readonly closing: (context: Context, finalState: string) => Closing;
}
