import type { LogLine } from '../../view/run-view.ts';
import { cutLine, ruleLine } from '../line.ts';
import { type Line, type Look, span } from '../span.ts';
import { signOf, tokenOf } from './tones.ts';

/** The newest rows of the log under a rule; `height` counts the rule. */
export function logLines(log: readonly LogLine[], width: number, height: number, look: Look): Line[] {
  if (height < 2 || log.length === 0) return [];
  const rows = log.slice(-(height - 1)).map((entry): Line => {
    const sign = signOf(entry.tone, look);
    return cutLine(
      [
        span(`${entry.at} `, 'text.dim'),
        span(`${sign} `, tokenOf(entry.tone)),
        span(entry.text, tokenOf(entry.tone)),
      ],
      width,
      look,
    );
  });
  return [ruleLine('log', width, look), ...rows];
}
