import type { Secret } from '../../src/base/secret.ts';
import type { FollowUp } from './follow-up.ts';
import type { Approve } from './plan.ts';

/**
 * A state with the tag `question` carries `meta.question`, a pure function of the context; the view shows it,
 * the runner turns an answer into the event that it names.
 */

export interface OperatorEvent {
  readonly type: `operator.${string}`;
}

export interface QuestionOption<Event extends OperatorEvent = OperatorEvent> {
  /** The event this answer sends. An option with `needs` adds the operator's words as `text`. */
  readonly event: Event;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The answer that `--yes` gives. At most one per question, and never one that destroys. */
  readonly recommended?: boolean;
  /** Whether the backup that it chooses was read to its end with a held key. */
  readonly isProven?: boolean;
  readonly needs?: { readonly what: 'reason' | 'evidence'; readonly prompt: string } | undefined;
  /** Why it cannot be chosen now; the option stays visible. */
  readonly disabled?: string | undefined;
}

export const STOP_EVENT = 'operator.stop';

/** A command that leads on where no answer does. */
export interface OtherWay {
  /** As the beginning of a sentence, lower case: `if orders is lost, recover it into another instance`. */
  readonly when: string;
  readonly command: string;
  /** The subject of the command, for a screen that begins the same without it. */
  readonly leadsTo:
    | { readonly kind: 'recover'; readonly instance: string; readonly target?: string }
    | { readonly kind: 'add-key'; readonly instance: string };
}

/** One sentence each. */
export interface Stakes {
  readonly overwritten: string;
  readonly lost: string;
  /** From when on data is lost, RFC 3339, if known: renderers show how long ago it was. */
  readonly lostSince?: string | undefined;
  readonly wayBack: string;
}

/** Bytes of a key that `openssl enc -pass file:` reads at most (APP_PASS_LEN in its apps/lib/apps.c). */
export const OPENSSL_KEY_BYTES = 1_023;

export type Question<Event extends OperatorEvent = OperatorEvent> =
  | {
      readonly kind: 'choice';
      readonly prompt: string;
      readonly options: readonly QuestionOption<Event>[];
      /** Ways out of a failure other than answers. */
      readonly otherWays?: readonly OtherWay[];
    }
  | {
      readonly kind: 'typed-name';
      readonly prompt: string;
      /**
       * The purpose of the name, as an order that reads alone: `restore backup 3 into orders`. A second
       * person approves these words, so they do not change with the prompt.
       */
      readonly order: string;
      readonly expected: string;
      readonly event: Event['type'];
      readonly stakes: Stakes;
      readonly options: readonly QuestionOption<Event>[];
      /** The name only counts with another person's approval, whatever lifeboat.yaml asks for. */
      readonly byOthers?: AskedApproval | undefined;
    }
  | {
      /** A hidden key. It goes to the runner; the event gets only `fingerprint` and `length`. */
      readonly kind: 'secret';
      readonly prompt: string;
      readonly event: Event['type'];
      readonly twice: boolean;
      /** A new key is judged; a key of old backups is taken as it is. */
      readonly isNew: boolean;
      readonly minLength: number;
      readonly options: readonly QuestionOption<Event>[];
    }
  | {
      /** Between `earliest` and `latest`, both included; the event gets it as `time`, RFC 3339 in UTC. */
      readonly kind: 'time';
      readonly prompt: string;
      readonly event: Event['type'];
      /** RFC 3339. A safety margin is already taken off. */
      readonly earliest: string;
      readonly latest: string;
      /** The picker's first position; it is no recommendation, so `--yes` does not take it. */
      readonly suggested?: string | undefined;
      /** RFC 3339, if given: without a suggestion the picker starts a minute before it. */
      readonly wentWrongAt?: string | undefined;
      /** When the known backups were made, for comparison. RFC 3339. */
      readonly backupsAt?: readonly string[];
      readonly options: readonly QuestionOption<Event>[];
    }
  | {
      /** A text that is not secret, such as a GUID; the event gets it as `text`, trimmed. */
      readonly kind: 'text';
      readonly prompt: string;
      readonly event: Event['type'];
      /** A regular expression for the whole text, and the sentence that describes it. */
      readonly pattern?: { readonly source: string; readonly says: string };
      readonly options: readonly QuestionOption<Event>[];
    }
  | {
      /**
       * Each follow-up is done by hand with a proof (`close`, with `id` and `text`), skipped with a reason
       * (`skip`, the same), or done from here where it is `doable` (`doNow`, with `id`); a command that was
       * begun before runs again by an option.
       */
      readonly kind: 'followUps';
      readonly prompt: string;
      readonly followUps: readonly FollowUp[];
      readonly close: Event['type'];
      readonly skip: Event['type'];
      readonly doNow: Event['type'];
      readonly options: readonly QuestionOption<Event>[];
    };

export interface AskedApproval {
  readonly terms: Approve;
  readonly given: number;
  /** What the request shows besides the facts of the run, one line each. */
  readonly shows: readonly string[];
}

/** The event type, followed by its values if several options share the type. */
export function optionKey(event: OperatorEvent): string {
  const values = Object.entries(event)
    .filter(([name]) => name !== 'type')
    .map(([, value]) => String(value));
  return [event.type, ...values].join(':');
}

export interface Answer {
  /** The option's key, or the event of a question that takes more than a choice. */
  readonly event: string;
  readonly typed?: string;
  /** Why a typed name is confirmed without the required second person. */
  readonly breakGlass?: string;
  /** The secret of a `secret` question; it goes to the key store and never into the journal. */
  readonly secret?: Secret;
  readonly text?: string;
  readonly id?: string;
  readonly again?: boolean;
  /** RFC 3339. */
  readonly time?: string;
}

/** `TARGET` if no target is known. Both arguments are shell words, quoted if necessary. */
export function recoverCommand(instance: string, target = 'TARGET'): string {
  return `lifeboat run disaster-recovery ${instance} --target ${target} --perform`;
}
