/**
 * One step of the fallback script: what a person does by hand when lifeboat, this machine or its keychain is
 * gone. The view writes steps as a shell script of `curl`, `openssl` and `cf` (domain: N12). Texts may hold
 * words of the service or of the platform; the view cleans and quotes them.
 */
export interface FallbackStep {
  readonly state: string;
  /** Lower case, no full stop: `set the new key`. */
  readonly title: string;
  readonly notes: readonly string[];
  readonly actions: readonly FallbackAction[];
}

export type FallbackSide = 'instance' | 'target';

/**
 * Known now, or kept in a shell variable (capital letters, digits, underscores) by an earlier action. `what`
 * names it for a person who skipped that step and is asked for it.
 */
export type FallbackValue = { readonly known: string } | { readonly variable: string; readonly what: string };

/** A field of a JSON body. `secret` is a shell variable that was asked for: the script contains no secret. */
export type FallbackField =
  | FallbackValue
  | { readonly secret: string }
  | { readonly literal: number | boolean }
  /** Digits, written without quotes. */
  | { readonly number: FallbackValue }
  | { readonly fields: Readonly<Record<string, FallbackField>> };

export interface FallbackCall extends Omit<CallValues, 'lookFirst'> {
  readonly do: 'call';
  readonly on: FallbackSide;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below the instance, as in service-api.md; `:id` is taken from `id`. */
  readonly path: string;
  /** For a call that must not be made twice: the script shows where to look, then asks for a typed word. */
  readonly once?: {
    readonly lookFirst: string;
    /** The list in which it appears, or the instance. If the answer names no id, the new one is kept. */
    readonly list: string;
  };
}

export interface CallValues {
  readonly id?: FallbackValue;
  readonly body?: Readonly<Record<string, FallbackField>>;
  /** Takes one field of the JSON answer into a variable. */
  readonly keep?: { readonly field: string; readonly as: string };
  /** For a call that must not be made twice: how a person sees that it was made already. */
  readonly lookFirst?: string;
}

/**
 * The planned calls as actions of the script, by the verb that makes them: those of the phase, or of the
 * first phase that plans any for this verb.
 */
export interface CallsByHand {
  looks(verb: string, phase?: string): readonly FallbackCall[];
  /** The one call that changes something. With `lookFirst` in `values`, it gets `once`. */
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
  /** Waits until the instance is available; with `since`, its last change, until it changed again as well. */
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
  /** Asks for a secret, hidden, into a shell variable, once for the whole script. */
  | { readonly do: 'ask-secret'; readonly as: string; readonly what: string }
  /** The same for a new key, which the script can also generate, into a file that only its owner reads. */
  | { readonly do: 'choose-key'; readonly as: string; readonly what: string }
  | { readonly do: 'ask'; readonly as: string; readonly what: string; readonly suggested?: string }
  /** The person types a name before anything is destroyed. */
  | { readonly do: 'confirm-name'; readonly name: string; readonly what: string }
  /** The program and each argument, so that none becomes code. */
  | {
      readonly do: 'run';
      readonly command: readonly string[];
      /** An alternative for a failure with the reason that `when` gives, in one sentence. */
      readonly otherwise?: { readonly when: string; readonly command: readonly string[] };
    }
  /** The script waits for Enter. */
  | { readonly do: 'by-hand'; readonly what: string; readonly copy?: readonly string[] };
