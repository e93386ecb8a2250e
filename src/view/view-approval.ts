import { show } from '../text.ts';
import { BREAK_GLASS } from './break-glass.ts';
import type { ApprovalView, RunView } from './run-view.ts';

/** A run's view with what the second person has done so far, and with the way around it. Cleaned for every renderer. */
export function withApproval(view: RunView, approval: ApprovalView | undefined): RunView {
  const { question } = view;
  if (approval === undefined || question?.kind !== 'typed-name') return view;
  const { by, problem } = approval;
  const cleaned: ApprovalView = {
    ...approval,
    file: show(approval.file),
    command: show(approval.command),
    ...(by === undefined ? {} : { by: show(by, 200) }),
    ...(problem === undefined ? {} : { problem: show(problem) }),
  };
  return {
    ...view,
    question: { ...question, approval: cleaned, options: [...question.options, BREAK_GLASS] },
  };
}
