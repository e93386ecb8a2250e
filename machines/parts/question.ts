/**
 * What a machine may ask the operator. A state with the tag `question` carries `meta.question`, a pure function of the
 * machine's context; the view shows it, the runner turns an answer into the event it names.
 */

export interface OperatorEvent {
  readonly type: `operator.${string}`;
}

export interface QuestionOption<Event extends OperatorEvent = OperatorEvent> {
  /** The event this answer sends. An option with `needs` adds the operator's words as `text`. */
  readonly event: Event;
  readonly label: string;
  /** What will happen, in one sentence. */
  readonly hint?: string;
  /** The answer that `--yes` gives. At most one per question, and never one that destroys. */
  readonly recommended?: boolean;
  readonly needs?: { readonly what: 'reason' | 'evidence'; readonly prompt: string };
  /** Why it cannot be chosen now; the option stays visible. */
  readonly disabled?: string;
}

export type Question<Event extends OperatorEvent = OperatorEvent> =
  | {
      readonly kind: 'choice';
      readonly prompt: string;
      readonly options: readonly QuestionOption<Event>[];
    }
  | {
      /** The operator types `expected`, character for character; the event gets it as `typed`. */
      readonly kind: 'typed-name';
      readonly prompt: string;
      readonly expected: string;
      readonly event: Event['type'];
      readonly options: readonly QuestionOption<Event>[];
    }
  | {
      /** A hidden key. It goes to the runner's hands; the event gets `fingerprint` and `length` only. */
      readonly kind: 'secret';
      readonly prompt: string;
      readonly event: Event['type'];
      readonly twice: boolean;
      readonly minLength: number;
      readonly options: readonly QuestionOption<Event>[];
    };

/** The name of an option among those of its question: its event type, and its values when there are several of that type. */
export function optionKey(event: OperatorEvent): string {
  const values = Object.entries(event)
    .filter(([name]) => name !== 'type')
    .map(([, value]) => String(value));
  return [event.type, ...values].join(':');
}
