import stringWidth from 'string-width';
import { GraphemeSegmenter, isOneCellEach } from './graphemes.ts';

/** In terminal cells. */
export function cells(text: string): number {
  return isOneCellEach(text) ? text.length : stringWidth(text);
}

/** To at most `width` cells; the last one is an ellipsis if something is missing. */
export function cutText(text: string, width: number, ellipsis = '…'): string {
  if (cells(text) <= width) return text;
  const mark = cells(ellipsis) <= width ? ellipsis : '';
  const [head] = splitAt(text, width - cells(mark));
  return head + mark;
}

/** From the other side: the first cell is the ellipsis if something is missing. */
export function cutStart(text: string, width: number, ellipsis = '…'): string {
  if (cells(text) <= width) return text;
  const mark = cells(ellipsis) <= width ? ellipsis : '';
  const room = width - cells(mark);
  const kept: string[] = [];
  for (const { segment } of [...graphemesOf(text)].reverse()) {
    if (cells([segment, ...kept].join('')) > room) break;
    kept.unshift(segment);
  }
  return mark + kept.join('');
}

/**
 * After as many whole characters (graphemes) as fit into `width` cells. With `least` 1 it always takes
 * something: of a single character that is too wide, with many spacing marks, as many code points as fit, but
 * at least one.
 */
export function splitAt(text: string, width: number, least: 0 | 1 = 0): [head: string, rest: string] {
  if (isOneCellEach(text)) {
    const end = Math.max(0, Math.floor(width), least);
    return [text.slice(0, end), text.slice(end)];
  }
  let used = 0;
  for (const { segment, index } of graphemesOf(text)) {
    const wide = cells(segment);
    if (used + wide > width) {
      const end = index === 0 && least === 1 ? lengthThatFits(segment, width) : index;
      return [text.slice(0, end), text.slice(end)];
    }
    used += wide;
  }
  return [text, ''];
}

/** Of a single grapheme, in UTF-16 units, whole code points only. */
function lengthThatFits(grapheme: string, width: number): number {
  const [first = '', ...others] = grapheme;
  let head = first;
  for (const other of others) {
    if (cells(head + other) > width) break;
    head += other;
  }
  return head.length;
}

const segmenter = new GraphemeSegmenter();

function graphemesOf(text: string) {
  return segmenter.segment(text);
}
