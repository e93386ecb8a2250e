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
    ...hintLines(hints, width),
  ];
}

/**
 * What is safe to do next, `indent` cells from the edge; further rows of a hint stand below its first word.
 */
export function hintLines(hints: readonly string[], width: number, indent = 2): readonly Line[] {
  const label = `${' '.repeat(indent)}hint: `;
  return hints.flatMap((hint) => wrapLine([span(`${label}${hint}`)], width, label.length));
}
