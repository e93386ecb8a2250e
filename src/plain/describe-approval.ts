import { show } from '../base/text.ts';
import type { ApprovalView, QuestionView, Tone } from '../view/run-view.ts';

/** One line that fits beside a name to type. */
export function approvalLine(approval: ApprovalView): { readonly text: string; readonly tone: Tone } {
  const { state, by = '', expiresAt, problem } = approval;
  const who = show(by, 200);
  switch (state) {
    case 'given':
      return { text: `approved by ${who}, until ${expiresAt} UTC`, tone: 'good' };
    case 'bypassed':
      return { text: `BREAK-GLASS, without a second person: ${who}`, tone: 'bad' };
    case 'expired':
      return {
        text: `the request for an approval expired at ${expiresAt} UTC; typing the name writes a new one`,
        tone: 'warn',
      };
    case 'withdrawn':
      return {
        text: `the approval was withdrawn: ${who}; typing the name asks for another one`,
        tone: 'warn',
      };
    case 'needed': {
      if (problem !== undefined) return { text: `not approved: ${show(problem)}`, tone: 'bad' };
      if (approval.challenge === '')
        return {
          text: 'a second person has to approve it; typing the name writes the request',
          tone: 'warn',
        };
      return { text: `a second person has to approve it by ${expiresAt} UTC`, tone: 'warn' };
    }
  }
}

/** For the second person; empty if nothing is left to do. */
export function approvalSteps({ state, challenge, file, command }: ApprovalView): readonly string[] {
  if (state !== 'needed' || challenge === '') return [];
  return [`file: ${show(file)}`, `sign: ${show(command)}`];
}

/** Empty if no approval is needed. */
export function describeApproval(question: QuestionView): string[] {
  const approval = question.kind === 'typed-name' ? question.approval : undefined;
  if (approval === undefined) return [];
  const { text, tone } = approvalLine(approval);
  const mark = tone === 'good' ? '' : 'attention: ';
  return [`  ${mark}${text}`, ...approvalSteps(approval).map((step) => `  ${step}`)];
}

/** Since the last look at the same question. */
export function newsOfApproval(before: QuestionView | undefined, after: QuestionView | undefined): string[] {
  if (before?.kind !== 'typed-name' || after?.kind !== 'typed-name') return [];
  if (before.approval === undefined || after.approval === undefined) return [];
  const changed = approvalLine(before.approval).text !== approvalLine(after.approval).text;
  const moved = before.approval.challenge !== after.approval.challenge;
  return changed || moved ? describeApproval(after) : [];
}
