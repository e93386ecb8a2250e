import { dateAt } from '../base/date.ts';
import { failureOf } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { QuestionView, RunView } from './run-view.ts';

export type TimeQuestion = QuestionView & { readonly kind: 'time' };

/**
 * Reads a text such as `14:32` or `10 minutes ago` as a moment within the range of a question. Never rejects.
 */
export type MomentReader = (
  text: string,
  about: { readonly question: TimeQuestion; readonly now: Date },
) => Promise<{ readonly time: Date } | { readonly problem: string }>;

/**
 * The reader of the product. Its parser of dates is loaded when the first text is read: nothing else needs
 * it.
 */
export const momentReader: MomentReader = async (text, { question, now }) => {
  try {
    const { readMoment } = await import('./moment.ts');
    return readMoment(text, { now, earliest: question.earliest, latest: question.latest });
  } catch (error) {
    return { problem: failureOf(error).shortMessage };
  }
};

/** The moment at which a view was made, by its own clock; an invalid date when the clock cannot be read. */
export function nowOf({ clock }: Pick<RunView, 'clock'>): Date {
  return dateAt(msOf(clock));
}
