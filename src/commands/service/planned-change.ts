import type { RunContext } from '../../../machines/context.ts';
import type { SingleChange } from '../../../machines/inputs.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { ResultOf } from '../../cli/print-result.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { InstanceFlags } from './on-instance.ts';

export interface ChangeFlags extends InstanceFlags {
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly wait?: boolean;
  /** How long the wait may go on over its limit. */
  readonly patience?: string;
  readonly reason?: string;
  /** The reason to make the change despite a reason against it. */
  readonly anyway?: string;
  /** The reason to make it without the second person who would have to approve it. */
  readonly breakGlass?: string;
  /** Why the run of a restore leaves out its follow-ups. The parser sets true without the flag. */
  readonly followUps?: boolean | string;
}

/** Repeatable or correctable, or a permanent loss of data or a key, which asks for the instance's name. */
export type Weight = 'changes' | 'destroys';

/** What a change may print, besides the service's answer. */
export type ChangeFields = Omit<ResultOf<'change'>, 'instance' | 'answer' | 'run'>;

/** One change of one instance by a command. Everything that it says comes from the context of its run. */
export interface Change {
  readonly single: Omit<SingleChange, 'wait' | 'noFollowUps'>;
  readonly weight: Weight;
  readonly backup?: number;
  /** The time to restore to. RFC 3339. */
  readonly time?: string;
  readonly key?: 'generated' | Secret;
  /** What will happen, as an order: `restore backup 3 into orders`. */
  readonly title: (context: RunContext) => string;
  /** The risks, one line each, besides what the look found. */
  readonly warnings: (context: RunContext) => readonly string[];
  /** The error for a question before the send that only a person could answer. */
  readonly unanswered?: (question: Question, context: RunContext) => LifeboatError | undefined;
  /** Fields of `lifeboat.change/1`, and words. Throws without what the command is for. */
  readonly done: (context: RunContext) => { readonly fields: ChangeFields; readonly text: string };
  /** How to show what it became, once that was waited for. */
  readonly show?: (context: RunContext, instance: OpenInstance) => Promise<void>;
}

export interface Scene {
  readonly config: LoadedConfig;
  readonly instance: OpenInstance;
  readonly workspace: Workspace;
}
