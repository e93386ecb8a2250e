import type { CallOf, Verb } from '../../../machines/verbs.ts';
import type { Secret } from '../../base/secret.ts';
import type { ResultOf } from '../../cli/print-result.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Caller } from '../../runner/call.ts';
import type { Output } from './call-outcome.ts';
import type { InstanceFlags } from './on-instance.ts';

/** Flags of every command that changes an instance. */
export interface ChangeFlags extends InstanceFlags {
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly wait?: boolean;
  /** How far over its limit the wait may go on. */
  readonly patience?: string;
  readonly reason?: string;
  /** The reason to make the change despite a reason against it. */
  readonly anyway?: string;
  /** The reason to make it without the second person who would have to approve it. */
  readonly breakGlass?: string;
}

/**
 * Whether a change can be repeated or corrected, or permanently replaces data or a key. The second kind asks
 * for the typed name of the instance.
 */
export type Weight = 'changes' | 'destroys';

/**
 * Performs one verb under the ledger's rules; rejects with a LifeboatError whose exit code says how it ended.
 */
export type Perform = (call: CallOf<Verb>) => Promise<Output>;

/** What a change may print, besides the service's answer. */
export type ChangeFields = Omit<ResultOf<'change'>, 'instance' | 'answer'>;

/** One change of one instance, planned but not yet made. */
export interface Change {
  /** What will happen, as an order: `restore backup 3 into orders`. */
  readonly title: string;
  /** The risks, one line each. */
  readonly warnings: readonly string[];
  act(perform: Perform): Promise<Output>;
  /** The outcome, as fields of `lifeboat.change/1` and in words. */
  done(output: Output): { readonly fields: ChangeFields; readonly text: string };
  readonly wait?: Wait;
}

/** The verbs that wait for the result of a change. */
export type Waiting = 'waitForBackup' | 'waitForRestore' | 'waitForInstance';

/** How to follow a change to its end. */
export interface Wait<V extends Waiting = Waiting> {
  /** The verb that waits; undefined when the answer named nothing to wait for. */
  until(output: Output): CallOf<V> | undefined;
  /** The command that continues a wait that was left. */
  command(output: Output): string;
  /** Prints what the call became. */
  show(output: Output): Promise<void>;
}

/** What planning a change needs. */
export interface Scene {
  readonly config: LoadedConfig;
  readonly signal: AbortSignal;
  readonly instance: OpenInstance;
  readonly workspace: Workspace;
  /** Keeps a secret in memory for `storeKey`, and out of the journal. Returns its fingerprint. */
  take(key: Secret): Promise<string>;
  /** Writes facts into ledgers; see `Caller.record`. */
  readonly record: Caller['record'];
  /** The fingerprint of the key that the ledger names as in force. */
  currentKey(): Promise<string | undefined>;
}
