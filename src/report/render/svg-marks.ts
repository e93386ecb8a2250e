import type { Mark } from '../model/model-course.ts';
import { type Markup, markup, NOTHING, readableText } from './markup.ts';
import { LEFT, type Scale } from './svg-scale.ts';

const ROW = 20;
const ROWS = 5;
const RADIUS = 8.5;

/**
 * The moments as numbered circles, each in the first row where it touches no other; where all rows are full
 * only its stem is drawn. The numbers are those of the table.
 */
export function markParts(
  marks: readonly Mark[],
  scale: Scale,
  top: number,
): { readonly svg: Markup; readonly height: number } {
  if (marks.length === 0) return { svg: NOTHING, height: 0 };
  const ends: number[] = [];
  const parts = marks.map(({ at, kind, text }, index) => {
    const x = Math.max(LEFT + RADIUS, Math.round(scale.x(Date.parse(at)) * 10) / 10);
    const free = Array.from({ length: ROWS }, (_, row) => row).find((row) => (ends[row] ?? 0) <= x - RADIUS);
    const title = markup`<title>${readableText(`${index + 1}: ${kind}: ${text}`)}</title>`;
    const loud =
      kind === 'break-glass' || kind === 'trouble' || kind === 'doubt' ? markup` class="loud"` : NOTHING;
    if (free === undefined) {
      return markup`<g${loud}>${title}<line class="stem" x1="${x}" y1="${top}" x2="${x}" y2="${top + 5}"/></g>\n`;
    }
    ends[free] = x + RADIUS + 1;
    const y = top + 12 + free * ROW;
    return markup`<g${loud}>${title}<line class="stem" x1="${x}" y1="${top}" x2="${x}" y2="${y - RADIUS}"/><circle class="mark" cx="${x}" cy="${y}" r="${RADIUS}"/><text x="${x}" y="${y + 3.5}" text-anchor="middle" font-size="9.5">${index + 1}</text></g>\n`;
  });
  const height = 12 + ends.length * ROW;
  return { svg: markup`<text x="0" y="${top + 16}">Moments</text>\n${parts}`, height };
}
