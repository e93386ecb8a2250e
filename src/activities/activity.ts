import type { InputOf, Kind, OutputOf, OutsideVerb, Verb, Verbs } from '../../machines/verbs.ts';
import { failureOf, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Json } from '../store/journal.ts';

/** For the screen only; of it, only `overdue` is journalled. */
export type Progress = Shown & {
  /** Set while it takes longer than expected. */
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

/** Longer than expected, with the limit that was passed. */
export interface Overdue {
  /** Seconds since it began, or since its last progress. */
  readonly seconds: number;
  /** Seconds beyond the first limit. */
  readonly overSeconds: number;
  /** The last limit that was passed: the first one, or a doubling of it. */
  readonly limitSeconds: number;
  readonly basis: 'history' | 'objective' | 'default';
  /** The usual duration here, in words. Printable. */
  readonly detail: string;
}

/** For an instance's ledger, appended in the same transaction as the activity's outcome. */
export interface LedgerFact {
  readonly type: string;
  readonly body: Json;
  /** Default: the run's own instance. The run holds its target's ledger as well. */
  readonly instance?: string;
}

/**
 * `ledger` facts become durable together with the result. `recorded` is called once both are on record, to
 * remove what performing the verb again would need: never if the process dies before; its errors are ignored.
 */
export type ActivityResult<Output> =
  | {
      readonly ok: true;
      readonly output: Output;
      readonly ledger?: readonly LedgerFact[];
      readonly recorded?: () => Promise<void>;
    }
  | { readonly ok: false; readonly failure: Failure; readonly ledger?: readonly LedgerFact[] };

export interface ActivityContext {
  readonly runId: string;
  /** In the config; also names the ledger for facts. */
  readonly instance: string;
  /** By this machine's clock: the run's objective counts from here. RFC 3339. */
  readonly begunAt?: string | undefined;
  /** When the run came to the verb's state; re-entries do not count. RFC 3339, by this machine's clock. */
  readonly arrivedAt?: string | undefined;
  /** The run's requests so far; undefined outside of a run. */
  readonly sent?: readonly SentTask[] | undefined;
  readonly signal: AbortSignal;
  now(): Date;
  report(progress: Progress): void;
}

export interface SentTask {
  readonly what: 'backup' | 'restore';
  readonly on?: 'target';
  /** The list before it. */
  readonly baseline: Json;
  readonly became?: number;
}

/** Without it, no call that changes something can be made. */
export interface SendContext extends ActivityContext {
  /**
   * Called right before the first byte of a request is written, or a tool is started: throws
   * `journal.lost-hold` if another process may have the run by now. Then the call was provably never sent.
   */
  readonly mayLeave: () => void;
}

/** For a repeatable verb that changes something. */
export interface ChangeContext extends SendContext {
  /**
   * Makes facts durable in a ledger, with a checkpoint outside the store, before the change that they
   * announce. The change must not happen before this resolves; if it rejects, the verb fails, even if it
   * catches the error.
   */
  announce(facts: readonly LedgerFact[]): Promise<void>;
}

/** Performed again after a crash. */
export interface ReadActivity<Input, Output> {
  readonly kind: 'read';
  readonly run: (input: Input, context: ActivityContext) => Promise<ActivityResult<Output>>;
}

/** Repeating it with the same input changes nothing more; performed again after a crash. */
interface RepeatableActivity<Input, Output> {
  readonly kind: 'repeatable';
  readonly run: (input: Input, context: ChangeContext) => Promise<ActivityResult<Output>>;
}

/**
 * The effect of repeating it is unknown: only a person's decision performs it, and after a crash it fails
 * with `activity.lost`.
 */
export interface AttendedActivity<Input, Output> {
  readonly kind: 'attended';
  readonly run: (input: Input, context: ChangeContext) => Promise<ActivityResult<Output>>;
}

/**
 * `refused`: an answer says that nothing was done; `absent`: not a byte was sent. A refusal need not come
 * from the service itself, so the runner looks before it relies on it. `againMs`: rejected unread; may be
 * sent again after this time.
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
 * Found after a call with an uncertain outcome. `wait`: look again after `ms`; `shows` says whether there is
 * something that the call may have become, `unknown` while the service cannot be asked.
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

/** A send with an uncertain outcome, by the journal. */
export interface InDoubt {
  readonly baseline: Json;
  /** When a byte may first have been sent, by this machine's clock. RFC 3339. */
  readonly armedAt: string;
  /** The first arming, if a refusal came in between: the outcome of either send counts. RFC 3339. */
  readonly firstArmedAt?: string | undefined;
  /**
   * Set if an answer says that nothing was done: `unchecked` until the service was looked at, `doubtful` once
   * it has shown something that the call may have become.
   */
  readonly refusal?: 'unchecked' | 'doubtful' | undefined;
  /** Looks by this process. */
  readonly looks: number;
  /**
   * The failure of `send`, if it was recorded: `service.no-id` and `service.old-id` are acceptances that name
   * no new task.
   */
  readonly lost?: Failure | undefined;
  /**
   * The latest moment at which it may still have been in sending: the answer was lost, or the process that
   * armed it was gone. A request may arrive for some time after that, however long the answer was awaited.
   * RFC 3339; `armedAt` if unknown.
   */
  readonly lostAt?: string | undefined;
}

/**
 * Must not happen twice, over an API without idempotency keys. `prepare` records the state before; the runner
 * then writes the intent, sends at most once per arming, and asks `judge` if the outcome is unknown. It is
 * armed again only if nothing was provably done. A new send needs a new `intent`, which only the machine
 * creates.
 */
export interface OnceActivity<Input extends { readonly intent: string }, Output> {
  readonly kind: 'once';
  readonly prepare: (input: Input, context: ActivityContext) => Promise<ActivityResult<Json>>;
  /** `baseline` is the result of `prepare`. */
  readonly send: (input: Input, context: SendContext, baseline: Json) => Promise<Sent<Output>>;
  readonly judge: (input: Input, memory: InDoubt, context: ActivityContext) => Promise<Judgement<Output>>;
}

/** With the kind, input and output from `machines/verbs.ts`. */
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

/** The verbs on an instance; outside/ has those of a plan's other steps. */
export type Activities = { readonly [V in Exclude<Verb, OutsideVerb>]: ActivityOf<V> };

/** For the runner: the machine's types guarantee that the input fits. */
export type AnyActivity =
  | ReadActivity<never, unknown>
  | RepeatableActivity<never, unknown>
  | AttendedActivity<never, unknown>
  | OnceActivity<never, unknown>;

export function ok<Output>(output: Output, ledger: readonly LedgerFact[] = []): ActivityResult<Output> {
  return { ok: true, output, ledger };
}

export function no(
  code: string,
  shortMessage: string,
  options: LifeboatErrorOptions = {},
): ActivityResult<never> {
  return { ok: false, failure: new LifeboatError(code, shortMessage, options).toFailure() };
}

export function because(cause: unknown): ActivityResult<never> {
  return { ok: false, failure: isFailure(cause) ? cause : failureOf(cause) };
}

/** A thrown error becomes the failure. */
export function readVerb<Input, Output>(
  run: ReadActivity<Input, NoInfer<Output>>['run'],
): ReadActivity<Input, Output> {
  return { kind: 'read', run: (input, context) => run(input, context).catch(because) };
}

/** A thrown error becomes the failure. */
export function repeatableVerb<Input, Output>(
  run: RepeatableActivity<Input, NoInfer<Output>>['run'],
): RepeatableActivity<Input, Output> {
  return { kind: 'repeatable', run: (input, context) => run(input, context).catch(because) };
}

/** After a lost answer to a call that is harmless to repeat. */
export function harmless(failure: Failure): Failure {
  return { ...failure, hints: ['the answer was lost; making the same change again does no harm'] };
}

/** Undefined fields are omitted. */
export function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && 'code' in value;
}
