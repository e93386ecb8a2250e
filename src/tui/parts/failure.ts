import { wrapLine } from '../line.ts';
import { type Line, type Look, span } from '../span.ts';

/** What is wrong, in one sentence, and what is safe to do next. */
export function failureLines(
  text: string,
  hints: readonly string[],
  width: number,
  { glyphs }: Pick<Look, 'glyphs'>,
): readonly Line[] {
  return [
    ...wrapLine([span(`${glyphs.failed} ${text}`, 'status.bad')], width, 2),
    ...hints.flatMap((hint) => wrapLine([span(`  hint: ${hint}`)], width, 8)),
  ];
}
