import { cells } from '../../plain/width.ts';
import type { FactLine } from '../../view/run-view.ts';
import { cutLine, limitRows, padLine, wrapLine } from '../line.ts';
import { type Line, type Look, span } from '../span.ts';
import { signOf, tokenOf } from '../theme.ts';

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

/** What is safe to do next, `indent` cells from the edge; wrapped rows are aligned with the first word. */
export function hintLines(hints: readonly string[], width: number, indent = 2): readonly Line[] {
  const label = `${' '.repeat(indent)}hint: `;
  return hints.flatMap((hint) => wrapLine([span(`${label}${hint}`)], width, label.length));
}

/** Facts as `label  value` rows; a long value takes up to `most` rows. */
export function factLines(facts: readonly FactLine[], width: number, look: Look, most = 3): Line[] {
  if (facts.length === 0) return [];
  const widest = Math.max(...facts.map((fact) => cells(span(fact.label).text)));
  const labelWidth = Math.min(widest, Math.floor(width * 0.4));
  const valueWidth = Math.max(1, width - labelWidth - 2);
  return facts.flatMap((fact) => {
    const label = padLine(cutLine([span(fact.label, 'text.dim')], labelWidth, look), labelWidth + 2);
    const blank = padLine([], labelWidth + 2);
    const sign = signOf(fact.tone, look);
    const text = sign === ' ' ? fact.value : `${sign} ${fact.value}`;
    return limitRows(wrapLine([span(text, tokenOf(fact.tone))], valueWidth), most, valueWidth, look).map(
      (row, at) => [...(at === 0 ? label : blank), ...row],
    );
  });
}
