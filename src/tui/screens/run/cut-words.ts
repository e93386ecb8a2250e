import { BLANK, type Line, type Look } from '../../span.ts';
import { bannerLines } from './parts/banner.ts';
import { saidLines } from './parts/question.ts';
import type { UiState } from './screen-state.ts';

/**
 * What was said above the run or below it and had no room for all its rows, in full, for the end of the text:
 * the announcement, and the words of the question, with what was wrong with an answer. `shown` are the rows
 * of the question as they stand on the screen, made for `columns` cells; the text has `width`.
 */
export function cutWords(
  { view, question, overlay }: UiState,
  isBannerCut: boolean,
  shown: readonly Line[],
  columns: number,
  width: number,
  look: Look,
): Line[] {
  const announced = isBannerCut ? [BLANK, ...bannerLines(view.banner, width, look)] : [];
  if (view.question === undefined || question === undefined || overlay !== 'none') return announced;
  const texts = new Set(shown.map(textOf));
  const isCut = saidLines(view.question, question, columns, look).some((line) => !texts.has(textOf(line)));
  return isCut ? [...announced, BLANK, ...saidLines(view.question, question, width, look)] : announced;
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}
