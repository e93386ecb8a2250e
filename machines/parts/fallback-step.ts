/**
 * One step of the fallback script: what a person does by hand when lifeboat, this machine or its keychain is
 * gone. Steps are data; the view writes them as a shell script of `curl`, `openssl` and `cf` (domain: N12).
 * Every text may hold words of the service or of the platform; the view cleans and quotes them.
 */
export interface FallbackStep {
  /** The state of the machine that this step stands for. */
  readonly state: string;
  /** Lower case, no full stop: `set the new key`. */
  readonly title: string;
  /** What to check or decide, in sentences. */
  readonly notes: readonly string[];
  readonly actions: readonly FallbackAction[];
}

export type FallbackSide = 'instance' | 'target';

/**
 * The source of a value: known now, or kept in a shell variable by an earlier action. `what` names it for a
 * person who skipped that step and is asked for it. Names of variables are capital letters, digits and
 * underscores.
 */
export type FallbackValue = { readonly known: string } | { readonly variable: string; readonly what: string };

/**
 * A field of a JSON body. `secret` is a shell variable that was asked for: the script itself contains none.
 */
export type FallbackField =
  | FallbackValue
  | { readonly secret: string }
  | { readonly literal: number | boolean }
  /** Digits, written without quotes. */
  | { readonly number: FallbackValue }
  | { readonly fields: Readonly<Record<string, FallbackField>> };

/** A planned call of the runbook, with what a person needs to make it. */
export interface FallbackCall extends Omit<CallValues, 'lookFirst'> {
  readonly do: 'call';
  readonly on: FallbackSide;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below the instance, as in service-api.md; `:id` is taken from `id`. */
  readonly path: string;
  /**
   * A call that must not be made twice: the script shows where it would be seen, and sends it only after a
   * typed word.
   */
  readonly once?: {
    readonly lookFirst: string;
    /**
     * The list in which it appears, or the instance itself. If the answer to the call names no id, the new
     * one there is kept.
     */
    readonly list: string;
  };
}

/** What a phase adds to a call that it plans. */
export interface CallValues {
  readonly id?: FallbackValue;
  readonly body?: Readonly<Record<string, FallbackField>>;
  /** Takes one field of the JSON answer into a variable. */
  readonly keep?: { readonly field: string; readonly as: string };
  /** For a call that must not be made twice: by what a person knows that it was made already. */
  readonly lookFirst?: string;
}

/**
 * The planned calls of a runbook as actions of its fallback script, found by the verb that makes them. They
 * are those of the phase, or of the first phase that plans any for this verb.
 */
export interface CallsByHand {
  looks(verb: string, phase?: string): readonly FallbackCall[];
  /** The one call that changes something. Where `values` say what to look for first, it is a call once. */
  change(verb: string, values?: CallValues, phase?: string): FallbackCall;
}

export type FallbackAction =
  | FallbackCall
  /** Asks for a task until it has ended. */
  | {
      readonly do: 'wait';
      readonly on: FallbackSide;
      readonly task: 'backup' | 'restore';
      readonly id: FallbackValue;
    }
  /**
   * Waits until the instance is available; with `since`, its last change, until it was changed again as well.
   */
  | { readonly do: 'wait-instance'; readonly on: FallbackSide; readonly since?: string }
  /** Downloads a backup, opens it with the key in the shell variable and reads it to its end. */
  | {
      readonly do: 'download-and-open';
      readonly on: FallbackSide;
      readonly id: FallbackValue;
      readonly key: string;
      /** The path of the downloaded file, if it is on this machine already. */
      readonly file?: string;
    }
  /**
   * Asks for a secret without showing it, into a shell variable, once for the whole script. `what` says which
   * one.
   */
  | { readonly do: 'ask-secret'; readonly as: string; readonly what: string }
  /**
   * The same for a new encryption key, which the script can also generate, into a file that only its owner
   * reads.
   */
  | { readonly do: 'choose-key'; readonly as: string; readonly what: string }
  /** Asks for a value that is not secret. */
  | { readonly do: 'ask'; readonly as: string; readonly what: string; readonly suggested?: string }
  /** The person types a name before anything is destroyed. */
  | { readonly do: 'confirm-name'; readonly name: string; readonly what: string }
  /**
   * A command of the platform's tool or another one: the program and each argument, so that none becomes
   * code.
   */
  | {
      readonly do: 'run';
      readonly command: readonly string[];
      /** An alternative for a failure with the reason that `when` gives, in one sentence. */
      readonly otherwise?: { readonly when: string; readonly command: readonly string[] };
    }
  /** Something only a person can do, with lines to copy if there are any; the script waits for Enter. */
  | { readonly do: 'by-hand'; readonly what: string; readonly copy?: readonly string[] };
