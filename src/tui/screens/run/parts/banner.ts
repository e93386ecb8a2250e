import type { QuestionView, RunView } from '../../../../view/run-view.ts';
import type { Size } from '../../../bands.ts';
import { textOf, wrapLine } from '../../../line.ts';
import { hintLines } from '../../../parts/failure.ts';
import { BLANK, type Line, type Look, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';
import type { UiState } from '../screen-state.ts';
import { saidLines } from './question.ts';

/** The loud line above everything and its hints. */
export function bannerLines(banner: RunView['banner'], width: number, look: Look): Line[] {
  if (banner === undefined) return [];
  const token = tokenOf(banner.tone);
  const text = wrapLine([span(`${signOf(banner.tone, look)} `, token), span(banner.text, token)], width, 2);
  return [...text, ...hintLines(banner.hints, width)];
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
  return { ...question, prompt: watched === undefined ? '' : 'what do you want to do about it?' };
}

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
