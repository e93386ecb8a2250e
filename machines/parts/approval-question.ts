import type { Approve } from './plan.ts';
import type { OperatorEvent, Question, QuestionOption, Stakes } from './question.ts';

interface Approving<Event extends OperatorEvent> {
  readonly approve: Approve;
  readonly given: number;
  readonly name: string;
  /** The consequence, as an order: `start the plan region-west`. */
  readonly order: string;
  /** What the request shows besides the facts of the run, one line each. */
  readonly shows: readonly string[];
  readonly stakes: Stakes;
  readonly options: readonly QuestionOption<Event>[];
}

/** It is asked again until as many people as the quorum have approved. */
export function approvalQuestion<Event extends OperatorEvent>(of: Approving<Event>): Question<Event> {
  const { approve, given, name, shows, stakes, options } = of;
  const order = `${of.order} (approval ${given + 1} of ${approve.quorum})`;
  const who = approve.of === undefined ? 'an allowed signer' : `one of ${approve.of.join(', ')}`;
  return {
    kind: 'typed-name',
    prompt: `type ${name} to ${order}: ${who} has to sign it`,
    order,
    expected: name,
    event: 'operator.confirm',
    stakes,
    options,
    byOthers: { terms: approve, given, shows },
  };
}

/** The process that drives the run has seen that nobody signed in time. */
export interface ApprovalExpired {
  readonly type: 'approval.expired';
}
