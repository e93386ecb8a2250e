import type { Approve } from './plan.ts';
import type { OperatorEvent, Question, QuestionOption, Stakes } from './question.ts';

/** What the question for one approval of a plan, or of a step of one, is made of. */
interface Approving<Event extends OperatorEvent> {
  readonly approve: Approve;
  /** How many approvals count so far. */
  readonly given: number;
  /** The name to type. */
  readonly name: string;
  /** What follows from it, as an order: `start the plan region-west`. */
  readonly order: string;
  /** What the request shows besides the facts of the run, one line each. */
  readonly shows: readonly string[];
  readonly stakes: Stakes;
  readonly options: readonly QuestionOption<Event>[];
}

/** The question for the next approval. It is asked again until as many people as the quorum have approved. */
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

/** The event of a request that nobody signed in time. The process that drives the run has seen it. */
export interface ApprovalExpired {
  readonly type: 'approval.expired';
}
