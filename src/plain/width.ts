import stringWidth from 'string-width';

/** How many terminal cells a text takes. */
export function cells(text: string): number {
  return stringWidth(text);
}

/** Cuts a text to at most `width` cells, the last of them an ellipsis when something is missing. */
export function cutText(text: string, width: number, ellipsis = '…'): string {
  if (cells(text) <= width) return text;
  const mark = cells(ellipsis) <= width ? ellipsis : '';
  const [head] = splitAt(text, width - cells(mark));
  return head + mark;
}

/** Splits a text after as many whole characters (graphemes) as fit into `width` cells, but after `least` of them anyway. */
export function splitAt(text: string, width: number, least: 0 | 1 = 0): [head: string, rest: string] {
  let used = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    const wide = cells(segment);
    if (used + wide > width && index + 1 > least) return [text.slice(0, index), text.slice(index)];
    used += wide;
  }
  return [text, ''];
}

const graphemes = new Intl.Segmenter();
