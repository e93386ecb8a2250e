import type { RunView } from '../../../../view/run-view.ts';
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
