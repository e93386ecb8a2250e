import type { AnyStateMachine } from 'xstate';
import type { z } from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import type { CallsByHand, FallbackStep } from './fallback-step.ts';
import type { FollowUp } from './follow-up.ts';
import type { OperatorEvent, OtherWay, Question, QuestionOption } from './question.ts';
import type { Touches } from './touches.ts';

/** `in-doubt` decides the exit code of a run that stops there without a terminal. */
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
  /** A run without trouble does not enter it. */
  | 'aside';

/** A call that a state makes, for dry run, prose and fallback script (service-api.md section 4.1). */
export interface PlannedCall {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly what: string;
  readonly on?: 'target' | undefined;
  /** One sentence. */
  readonly needs?: string | undefined;
  /** One sentence. */
  readonly forever?: string;
  /** The run goes on without it where the service does not have it. */
  readonly optional?: boolean | undefined;
  /** Not in the fallback script: its answer does not help a person there. */
  readonly notByHand?: boolean;
}

/**
 * The recovery time is reported as: until the decision, in the service's queue, at work, waiting for a
 * person, until the applications run again.
 */
export type TimeSlice = 'decide' | 'queue' | 'execute' | 'human' | 'rebind';

export interface Left<Context> {
  readonly context: Context;
  /** The run's state in this phase, or in one before it without a part; undefined for a later phase. */
  readonly at: string | undefined;
  readonly state: string;
  readonly key: string;
  /** The planned calls; a part adds values and words to them. */
  readonly calls: CallsByHand;
}

export type FallbackPart<Context> = (left: Left<Context>) => readonly FallbackStep[];

/** States and phases, which are states that hold others. `Context` is the machine's own. */
export interface StateMeta<Context, Event extends OperatorEvent> {
  readonly title: string;
  /** For a phase that several runbooks share: the name under which it is described and drawn once. */
  readonly like?: string;
  /** Whether a run passes it, as far as that is known; by default it does. */
  readonly when?: ((context: Context) => boolean) | undefined;
  readonly fallback?: FallbackPart<Context> | undefined;
  readonly question?: (context: Context) => Question<Event>;
  /** Reasons against the change, shown before it is made. */
  readonly warning?: ((context: Context) => string | undefined) | undefined;
  /**
   * Events that the machine takes while the state's verb, which changes nothing, is under way. They are
   * offered once the verb takes longer than it should.
   */
  readonly beside?: (context: Context) => readonly QuestionOption<Event>[];
  readonly calls?: readonly PlannedCall[];
  /** Calls of the platform or commands outside the service, for the plan: words, not paths. */
  readonly does?: readonly string[];
  /** The slice of the recovery time that passes here; a question's is always `human`. */
  readonly slice?: TimeSlice | undefined;
  /** For a state that changes something; one sentence. */
  readonly wayBack?: string;
}

/** Values are raw; the view formats and cleans them. Times are RFC 3339, durations seconds. */
export interface Fact {
  readonly label: string;
  readonly value: string | number;
  readonly unit?: 'bytes' | 'time' | 'seconds' | 'days';
  readonly tone?: 'good' | 'warn' | 'bad';
}

/** `title` has one or two words. */
export interface FactGroup {
  readonly title: string;
  readonly facts: readonly Fact[];
}

export interface Closing {
  readonly outcome: 'done' | 'done-unproven' | 'stopped';
  /** True only if evidence of this run shows that its purpose was reached. */
  readonly proven: boolean;
  readonly title: string;
  /** The service said that it is simulated, so the run proves nothing. */
  readonly simulated?: true;
  /** Most important first; no group is empty. */
  readonly summary: readonly FactGroup[];
  readonly deviations: readonly { readonly step: string; readonly reason: string }[];
  /** The instance into which this run may have restored something, with an unknown result. */
  readonly unknown?: string;
  /** Follow-ups handed to the ledger of the instance, one line each: they outlive the run. */
  readonly leaves?: readonly string[];
}

export interface Runbook<Context = never, Input = unknown> {
  readonly id: string;
  readonly title: string;
  readonly titleOf?: (context: Context) => string;
  /** Raised when states, invoke ids or verbs change; a run is resumed with the version that began it. */
  readonly version: string;
  readonly machine: AnyStateMachine;
  /** If the input decides which states there are. */
  readonly machineFor?: (input: unknown) => AnyStateMachine;
  readonly input: z.ZodType<Input>;
  readonly touches: (input: unknown) => Touches;
  readonly facts: (context: Context) => readonly Fact[];
  readonly failure: (context: Context) => Failure | undefined;
  /** Ways on from a run that was stopped at a failure. */
  readonly waysOn?: (context: Context) => readonly OtherWay[];
  readonly skipped: (context: Context) => readonly { readonly step: string; readonly reason: string }[];
  /** Open and closed ones. With the state that the run was left in, also those of a possible change. */
  readonly followUps?: (context: Context, state?: string) => readonly FollowUp[];
  /** Fingerprints of keys that the rest of the run needs. */
  readonly keys?: (context: Context) => readonly string[];
  readonly closing: (context: Context, finalState: string) => Closing;
}
