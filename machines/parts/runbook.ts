import type { AnyStateMachine } from 'xstate';
import type { z } from 'zod';
import type { Failure } from './failure.ts';
import type { Obligation } from './obligation.ts';
import type { PaperStep } from './paper-step.ts';
import type { OperatorEvent, Question, QuestionOption } from './question.ts';

/** The view's vocabulary. `in-doubt` decides the exit code of a run that stops there without a terminal. */
export type StateTag = 'question' | 'destructive' | 'waiting' | 'obligation' | 'in-doubt' | 'failed' | 'done';

/** A call of the service that a state makes, for `lifeboat plan`. Paths as in service-api.md section 4.1. */
export interface PlannedCall {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly what: string;
  /** Which instance it goes to; the run's own by default. */
  readonly on?: 'target';
  /** What has to hold before it is made, in one sentence. */
  readonly needs?: string;
  /** What cannot be undone once it is made, in one sentence. */
  readonly forever?: string;
  /** The run goes on without it where the service does not have it. */
  readonly optional?: boolean;
}

/**
 * The slices that a recovery's time is told in: until the decision, in the service's queue, at work, waiting for a person, until
 * the applications run again.
 */
export type TimeSlice = 'decide' | 'queue' | 'execute' | 'human' | 'rebind';

/** What every state says about itself. `Context` is the machine's own. */
export interface StateMeta<Context, Event extends OperatorEvent> {
  /** The step of the rail this state belongs to. */
  readonly step: string;
  readonly title: string;
  readonly question?: (context: Context) => Question<Event>;
  /**
   * What may be done while the state's verb is under way, which asks and changes nothing. The machine takes these events in the state;
   * they are offered once the verb takes longer than it should.
   */
  readonly beside?: (context: Context) => readonly QuestionOption<Event>[];
  readonly calls?: readonly PlannedCall[];
  /** Calls of the platform or commands outside the service, for the plan: words, not paths. */
  readonly does?: readonly string[];
  /** Which slice of the recovery time passes in this state; a question's is always `human` once the service was changed. */
  readonly slice?: TimeSlice;
  /** For a state that changes something: what the way back is, in one sentence. */
  readonly wayBack?: string;
}

/** A fact beside the prose. Values are raw; the view formats and cleans them. Times are RFC 3339, durations seconds. */
export interface Fact {
  readonly label: string;
  readonly value: string | number;
  readonly unit?: 'bytes' | 'time' | 'seconds' | 'days';
  readonly tone?: 'good' | 'warn' | 'bad';
}

/** What a run leaves when its machine has ended. */
export interface Closing {
  readonly outcome: 'done' | 'done-unproven' | 'stopped';
  /** True only when the thing the runbook exists for was shown by evidence of this run. */
  readonly proven: boolean;
  readonly title: string;
  readonly summary: readonly Fact[];
  readonly deviations: readonly { readonly step: string; readonly reason: string }[];
}

/** One recovery flow: its machine and what the rest of the program needs to know of it. */
export interface Runbook<Context = never, Input = unknown> {
  readonly id: string;
  readonly title: string;
  /** Bumped when states, invoke ids or verbs change; a journal of another version is not resumed. */
  readonly version: string;
  readonly machine: AnyStateMachine;
  readonly input: z.ZodType<Input>;
  readonly steps: readonly { readonly id: string; readonly title: string }[];
  /** The order in which a run without trouble passes its states, for `plan` and the generated step table. */
  readonly mainPath: readonly string[];
  /** The same for one run, where it depends on what the run was begun with. */
  readonly pathOf?: (context: Context) => readonly string[];
  readonly facts: (context: Context) => readonly Fact[];
  readonly failure: (context: Context) => Failure | undefined;
  readonly skipped: (context: Context) => readonly { readonly step: string; readonly reason: string }[];
  /**
   * What the run owes, settled or not; none for a runbook that leaves nothing owed. With the state that it was left in, also what it will
   * owe for a change that it may have asked for.
   */
  readonly obligations?: (context: Context, state?: string) => readonly Obligation[];
  /** Fingerprints of the keys of the run's instance that what is still to be done cannot do without. */
  readonly keys?: (context: Context) => readonly string[];
  /** The rest of the run from `state` on, for a person without lifeboat. */
  readonly paper?: (context: Context, state: string) => readonly PaperStep[];
  readonly closing: (context: Context, finalState: string) => Closing;
}
