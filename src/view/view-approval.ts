import { readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { BREAK_GLASS } from './question-words.ts';
import type { ApprovalView, RunView } from './run-view.ts';

/**
 * A run's view with what the second person has done so far, and with the way around it. Cleaned for every
 * renderer.
 */
export function withApproval(view: RunView, approval: ApprovalView | undefined): RunView {
  const { question } = view;
  if (approval === undefined || question?.kind !== 'typed-name') return view;
  const { by, problem } = approval;
  const cleaned: ApprovalView = {
    ...approval,
    file: show(approval.file),
    command: show(approval.command),
    by: by && show(by, 200),
    problem: problem && readable(problem),
  };
  return {
    ...view,
    question: { ...question, approval: cleaned, options: [...question.options, BREAK_GLASS] },
  };
}

/**
 * What the record says of second people, for the end of a run: who approved, and what went on without one. An
 * approval counts for the last request of its order, unless it was taken back.
 */
export function approvalsIn(entries: readonly Entry[]): {
  readonly given: readonly string[];
  readonly bypassed: readonly string[];
} {
  const bodies = (type: string) =>
    entries
      .filter((entry) => entry.type === type)
      .map(({ body }) => body as Readonly<Record<string, string>>);
  const newest = new Map(bodies('approval.asked').map(({ order, challenge }) => [order, challenge]));
  const standing = new Set(newest.values());
  for (const type of ['approval.withdrawn', 'approval.bypassed'])
    for (const { challenge } of bodies(type)) standing.delete(challenge);
  return {
    given: bodies('approval.given')
      .filter(({ challenge }) => standing.has(challenge))
      .map(({ approver }) => show(`approved by ${approver}`)),
    bypassed: [
      ...bodies('approval.weakened').map(({ reason }) =>
        readable(`BREAK-GLASS, with less approval than when the run began: ${reason}`),
      ),
      ...bodies('approval.bypassed').map(({ order, reason }) =>
        readable(`BREAK-GLASS, without a second person: ${reason} (to ${order})`),
      ),
    ],
  };
}
