import type { InputOf, Kind, OutputOf, Verb, Verbs } from '../../machines/verbs.ts';
import type { Failure } from '../base/failure.ts';
import type { Json } from '../store/journal.ts';

/** How far an activity is; for the screen only. Of it, only that it is overdue is journalled. */
export type Progress = Shown & {
  /** Set while it takes longer than it should. */
  readonly overdue?: Overdue | undefined;
};

type Shown =
  | {
      readonly kind: 'bytes';
      readonly done: number;
      readonly total: number | undefined;
      readonly what: string;
    }
  | { readonly kind: 'task'; readonly status: string; readonly what: string }
  | { readonly kind: 'wait'; readonly untilMs: number; readonly what: string };

/** That something takes longer than it should, and which limit says so. */
export interface Overdue {
  /** How long it has gone on, or nothing of it has moved. */
  readonly seconds: number;
  /** How far it is over the first limit. */
  readonly overSeconds: number;
  /** The limit that was passed last: the first one, and each doubling of it. */
  readonly limitSeconds: number;
  readonly basis: 'history' | 'objective' | 'default';
  /** What is usual here, in words. Printable. */
  readonly detail: string;
}

/** A fact for an instance's ledger, appended in the same transaction as the activity's outcome. */
export interface LedgerFact {
  readonly type: string;
  readonly body: Json;
  /**
   * Whose ledger, by name; the run's own instance without it. The run holds the ledger of its target as well.
   */
  readonly instance?: string;
}

/** How an activity ended, as data. `ledger` facts become durable together with it. */
export type ActivityResult<Output> =
  | { readonly ok: true; readonly output: Output; readonly ledger?: readonly LedgerFact[] }
  | { readonly ok: false; readonly failure: Failure; readonly ledger?: readonly LedgerFact[] };

export interface ActivityContext {
  readonly runId: string;
  /** The instance's name in the config; also the ledger that facts go to. */
  readonly instance: string;
  /** When the run began, by this machine's clock: its objective counts from there. RFC 3339. */
  readonly begunAt?: string | undefined;
  /**
   * When the run came to the state that the verb is performed in, by this machine's clock; entering it again
   * does not count anew. RFC 3339.
   */
  readonly arrivedAt?: string | undefined;
  /** What the run has asked for so far; missing outside of one. */
  readonly sent?: readonly SentTask[] | undefined;
  readonly signal: AbortSignal;
  now(): Date;
  report(progress: Progress): void;
}

/** A backup or a restore that a run has asked for. */
export interface SentTask {
  readonly what: 'backup' | 'restore';
  readonly on?: 'target';
  /** What was listed before it. */
  readonly baseline: Json;
  /** Its id, where it is known. */
  readonly became?: number;
}

/** What a call that changes something is given besides; without it, none can be made. */
export interface SendContext extends ActivityContext {
  /**
   * Asked right before the first byte of a request is written, or a tool is started: throws
   * `journal.lost-hold` when another process may have the run by now. Then the call was provably never sent.
   */
  readonly mayLeave: () => void;
}

/** What a verb that changes something and may be repeated is given besides. */
export interface ChangeContext extends SendContext {
  /**
   * Makes facts durable in a ledger, with a checkpoint outside the store, before what they announce is done.
   * Nothing that they announce may happen before it resolves; when it rejects, so does the performing of the
   * verb, whatever the verb makes of it.
   */
  announce(facts: readonly LedgerFact[]): Promise<void>;
}

/** Asks or computes; after a crash it is done again. */
export interface ReadActivity<Input, Output> {
  readonly kind: 'read';
  readonly run: (input: Input, context: ActivityContext) => Promise<ActivityResult<Output>>;
}

/** Changes something, and the same input again changes nothing more; after a crash it is done again. */
export interface RepeatableActivity<Input, Output> {
  readonly kind: 'repeatable';
  readonly run: (input: Input, context: ChangeContext) => Promise<ActivityResult<Output>>;
}

/**
 * Changes something, and nobody knows what the same again would do: it is performed when a person has said
 * so, and after a crash it fails with `activity.lost` instead.
 */
export interface AttendedActivity<Input, Output> {
  readonly kind: 'attended';
  readonly run: (input: Input, context: ChangeContext) => Promise<ActivityResult<Output>>;
}

/**
 * How the one send of a `once` activity ended. `refused`: an answer says that nothing was done; without it no
 * byte has left. A refusal is somebody's word, and need not be that of the service: the runner looks before
 * it believes it. `againMs`: the call was turned away unread, and may be sent again after so long.
 */
export type Sent<Output> =
  | { readonly sent: 'landed'; readonly output: Output }
  | {
      readonly sent: 'absent';
      readonly failure: Failure;
      readonly refused?: true;
      readonly againMs?: number;
    }
  | { readonly sent: 'unknown'; readonly failure: Failure };

/**
 * What the service shows after a call whose outcome is not certain. `wait` means: look again after `ms`;
 * `shows` says whether there already is something that the call may have become, `unknown` while the service
 * cannot be asked.
 */
export type Judgement<Output> =
  | { readonly verdict: 'landed'; readonly output: Output; readonly evidence: Json }
  | { readonly verdict: 'absent'; readonly evidence: Json }
  | { readonly verdict: 'ambiguous'; readonly failure: Failure }
  | {
      readonly verdict: 'wait';
      readonly ms: number;
      readonly untilMs: number;
      readonly shows: 'nothing' | 'something' | 'unknown';
    };

/** What the journal knows of a send whose outcome is not certain. */
export interface InDoubt {
  /** What `prepare` gave. */
  readonly baseline: Json;
  /** From then on a byte may have left, by this machine's clock. RFC 3339. */
  readonly armedAt: string;
  /** When it was armed first, where a refusal came between: what either send became counts. RFC 3339. */
  readonly firstArmedAt?: string | undefined;
  /**
   * Set where an answer says that nothing was done: `unchecked` while nobody has looked since, `doubtful`
   * once the service has shown something that the call may have become.
   */
  readonly refusal?: 'unchecked' | 'doubtful' | undefined;
  /** How often this process has looked before. */
  readonly looks: number;
  /**
   * What `send` said, when the process lived to write it down: `service.no-id` and `service.old-id` are
   * acceptances that name no new task.
   */
  readonly lost?: Failure | undefined;
  /**
   * From when on nobody was sending it any more, at the latest: the answer was lost, or the process that
   * armed it was gone. What is under way may arrive for a while after that, however long the answer was
   * waited for. RFC 3339; `armedAt` where it is not known.
   */
  readonly lostAt?: string | undefined;
}

/**
 * Changes something that must not happen twice, over an API without idempotency keys. `prepare` records the
 * world before; the runner then writes the intent, sends at most once for each time that it was armed, and
 * asks `judge` when the outcome is not known. It is armed again only when it is proven that nothing was done.
 * Inputs carry `intent`: a new send needs a new intent id, which only the machine gives out.
 */
export interface OnceActivity<Input extends { readonly intent: string }, Output> {
  readonly kind: 'once';
  readonly prepare: (input: Input, context: ActivityContext) => Promise<ActivityResult<Json>>;
  /** `baseline` is what `prepare` gave. */
  readonly send: (input: Input, context: SendContext, baseline: Json) => Promise<Sent<Output>>;
  readonly judge: (input: Input, memory: InDoubt, context: ActivityContext) => Promise<Judgement<Output>>;
}

/** The activity of a verb: of the kind, and with the input and output, that `machines/verbs.ts` names. */
export type ActivityOf<V extends Verb> = Performing<Verbs[V]['kind'], InputOf<V>, OutputOf<V>>;

type Performing<K extends Kind, Input, Output> = K extends 'read'
  ? ReadActivity<Input, Output>
  : K extends 'repeatable'
    ? RepeatableActivity<Input, Output>
    : K extends 'attended'
      ? AttendedActivity<Input, Output>
      : Input extends { readonly intent: string }
        ? OnceActivity<Input, Output>
        : never;

/** An activity for each verb. */
export type Activities = { readonly [V in Verb]: ActivityOf<V> };

/** Any activity, as the runner holds it: the machine's types guarantee that the input fits. */
export type AnyActivity =
  | ReadActivity<never, unknown>
  | RepeatableActivity<never, unknown>
  | AttendedActivity<never, unknown>
  | OnceActivity<never, unknown>;
