import { wrapLine } from '../line.ts';
import { type Line, type Look, span } from '../span.ts';

/** What could not be done and why, with what is safe to do next. */
export function failureLines(
  what: string,
  { why, hints = [] }: { readonly why: string; readonly hints?: readonly string[] },
  width: number,
  { glyphs }: Pick<Look, 'glyphs'>,
): readonly Line[] {
  return [
    ...wrapLine([span(`${glyphs.failed} ${what}: `, 'status.bad'), span(why)], width, 2),
    ...hints.flatMap((hint) => wrapLine([span(`  hint: ${hint}`)], width, 8)),
  ];
}
