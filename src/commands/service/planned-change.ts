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
  /** How long the wait may be over its limit. */
  readonly patience?: string;
  readonly reason?: string;
  /** Why it is to be done although something speaks against it. */
  readonly anyway?: string;
  /** Why it is done without the second person who would have to approve it. */
  readonly breakGlass?: string;
}

/**
 * Whether a change can be made again or made good, or replaces data or a key for good. The second kind asks
 * for the typed name of the instance.
 */
export type Weight = 'changes' | 'destroys';

/**
 * Performs one verb under the ledger's rules; rejects with a LifeboatError whose exit code says how it ended.
 */
export type Perform = (call: CallOf<Verb>) => Promise<Output>;

/** What a change may print of itself, beside what the service says. */
export type ChangeFields = Omit<ResultOf<'change'>, 'instance' | 'answer'>;

/** One change of one instance, looked into and not yet made. */
export interface Change {
  /** What will happen, as an order: `restore backup 3 into orders`. */
  readonly title: string;
  /** What is at stake, one line each. */
  readonly warnings: readonly string[];
  act(perform: Perform): Promise<Output>;
  /** What came of it, as fields of `lifeboat.change/1` and in words. */
  done(output: Output): { readonly fields: ChangeFields; readonly text: string };
  readonly wait?: Wait;
}

/** The verbs that wait for what a change has become. */
export type Waiting = 'waitForBackup' | 'waitForRestore' | 'waitForInstance';

/** How a change is followed to its end. */
export interface Wait<V extends Waiting = Waiting> {
  /** The verb that waits; undefined when the answer named nothing to wait for. */
  until(output: Output): CallOf<V> | undefined;
  /** The command that goes on waiting when this one was left. */
  command(output: Output): string;
  /** Prints what it has become. */
  show(output: Output): Promise<void>;
}

/** What a change is planned with. */
export interface Scene {
  readonly config: LoadedConfig;
  readonly signal: AbortSignal;
  readonly instance: OpenInstance;
  readonly workspace: Workspace;
  /** Puts a secret in hand for `storeKey`, and keeps it out of the journal. Gives its fingerprint. */
  take(key: Secret): Promise<string>;
  /** Writes facts into ledgers; see `Caller.record`. */
  readonly record: Caller['record'];
  /** The fingerprint that the ledger believes to be in force. */
  currentKey(): Promise<string | undefined>;
}
