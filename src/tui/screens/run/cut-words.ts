import type { Size } from '../../bands.ts';
import { BLANK, type Line, type Look } from '../../span.ts';
import { askedBelow, bannerLines } from './parts/banner.ts';
import { saidLines } from './parts/question.ts';
import type { UiState } from './screen-state.ts';

/**
 * What was said above the run or below it and had no room for all its rows, in full, for the end of the text:
 * the announcement, and the words of the question, with what was wrong with an answer. `shown` are the rows
 * of the question as they stand on a screen of this size; the text has `width`.
 */
export function cutWords(
  { view, question, overlay }: UiState,
  isBannerCut: boolean,
  shown: readonly Line[],
  size: Size,
  width: number,
  look: Look,
): Line[] {
  const announced = isBannerCut ? [BLANK, ...bannerLines(view.banner, width, look)] : [];
  const asked = askedBelow(view, size, look);
  if (asked === undefined || question === undefined || overlay !== 'none') return announced;
  const texts = new Set(shown.map(textOf));
  const isCut = saidLines(asked, question, size.columns, look).some((line) => !texts.has(textOf(line)));
  return isCut ? [...announced, BLANK, ...saidLines(asked, question, width, look)] : announced;
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}
