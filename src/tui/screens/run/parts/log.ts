import type { LogLine } from '../../../../view/run-view.ts';
import { cutLine, lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { signOf, tokenOf } from '../../../parts/tones.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';

/**
 * The newest of the log under a rule; `height` counts the rule. An entry has one row, cut where it has to be;
 * where all of them have room for it, it has as many as it takes.
 */
export function logLines(log: readonly LogLine[], width: number, height: number, look: Look): Line[] {
  if (height < 2 || log.length === 0) return [];
  const room = height - 1;
  const newest = log.slice(-room);
  const whole = wholeRows(newest, width, look);
  const rows =
    whole.length <= room
      ? whole.slice(-room)
      : newest.map((entry) => cutLine(entryLine(entry, look), width, look));
  return [ruleLine('log', width, look), ...rows];
}

/** Entries of the log, each with all the rows that it takes. */
export function wholeRows(log: readonly LogLine[], width: number, look: Look): Line[] {
  return log.flatMap((entry) => {
    const whole = entryLine(entry, look);
    if (lineWidth(whole) <= width) return [whole];
    const [at, sign, text] = whole;
    const lead = lineWidth([at, sign]);
    return wrapLine([text], Math.max(1, width - lead)).map(
      (row, index): Line => (index === 0 ? [at, sign, ...row] : [span(' '.repeat(lead)), ...row]),
    );
  });
}

function entryLine({ at, tone, text }: LogLine, look: Look): readonly [Span, Span, Span] {
  return [
    span(`${at} `, 'text.dim'),
    span(`${signOf(tone, look)} `, tokenOf(tone)),
    span(text, tokenOf(tone)),
  ];
}
