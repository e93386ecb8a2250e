import { dateAt } from '../base/date.ts';
import { failureOf } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { QuestionView, RunView } from './run-view.ts';

export type TimeQuestion = QuestionView & { readonly kind: 'time' };

/** `14:32` or `10 minutes ago`, within the range of the question. Never rejects. */
export type MomentReader = (
  text: string,
  about: { readonly question: TimeQuestion; readonly now: Date },
) => Promise<{ readonly time: Date } | { readonly problem: string }>;

/** Loads its parser of dates with the first text, because only this needs it. */
export const momentReader: MomentReader = async (text, { question, now }) => {
  try {
    const { readMoment } = await import('./moment.ts');
    return readMoment(text, { now, earliest: question.earliest, latest: question.latest });
  } catch (error) {
    return { problem: failureOf(error).shortMessage };
  }
};

/** An invalid date if the view's clock cannot be read. */
export function nowOf({ clock }: Pick<RunView, 'clock'>): Date {
  return dateAt(msOf(clock));
}
