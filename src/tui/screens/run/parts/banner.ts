import type { QuestionView, RunView } from '../../../../view/run-view.ts';
import type { Size } from '../../../bands.ts';
import { wrapLine } from '../../../line.ts';
import { signOf, tokenOf } from '../../../parts/tones.ts';
import { type Line, type Look, span } from '../../../span.ts';

/** The loud line above everything and its hints. */
export function bannerLines(banner: RunView['banner'], width: number, look: Look): Line[] {
  if (banner === undefined) return [];
  const token = tokenOf(banner.tone);
  const text = wrapLine([span(`${signOf(banner.tone, look)} `, token), span(banner.text, token)], width, 2);
  const hints = banner.hints.flatMap((hint) => wrapLine([span(`  hint: ${hint}`)], width, 8));
  return [...text, ...hints];
}

/** So many rows of it stand above a run; the rest is at the end of the text. */
export function mostOfBanner(rows: number): number {
  return rows < 24 ? 2 : 4;
}

/** The question as it is asked below a banner: without the words that stand in full above it. */
export function askedBelow(
  { banner, question, watched }: Pick<RunView, 'banner' | 'question' | 'watched'>,
  { columns, rows }: Size,
  look: Look,
): QuestionView | undefined {
  if (banner === undefined || question === undefined || question.prompt !== banner.text) return question;
  const said = bannerLines({ ...banner, hints: [] }, columns, look).length;
  const most = mostOfBanner(rows);
  // The last row of a banner that is cut says that there is more.
  const isWhole = said < most || (said === most && banner.hints.length === 0);
  if (!isWhole) return question;
  return { ...question, prompt: watched === undefined ? '' : 'what is to be done about that' };
}
