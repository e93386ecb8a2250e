import type { QuestionOption } from './run-view.ts';

/**
 * The way around an approval that cannot be had in time: first a reason, then the name as ever. It is no
 * event of any machine.
 */
export const BREAK_GLASS: QuestionOption = {
  event: 'break-glass',
  label: 'break the glass: go on without a second person',
  hint: 'asks for a reason, then for the name; both head the report',
  recommended: false,
  needs: { what: 'reason', prompt: 'why nobody can approve it in time' },
};
