/*
 * Loading all of Unicode would slow every start: 8 ms for the first `Intl.Segmenter` and 24 ms for the first
 * emoji lookup, together 26 % more processor time for `runs` (medians of 30 alternating runs). The text on
 * the screen needs neither. The build puts this in place of both in the packages that draw
 * (build/plugins.ts).
 */

/**
 * Every character takes one cell of a terminal, and none joins its neighbour: printable ASCII, Latin letters,
 * dashes and quotes, arrows, and the characters of boxes and bars. False says nothing about the text.
 * Ambiguous widths count as narrow.
 */
export function isOneCellEach(text: string): boolean {
  return !OTHER_CELLS.test(text);
}

/** U+25FD and U+25FE are wide; the screen uses these three dingbats. */
const OTHER_CELLS =
  /[^\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u25ff\u2713\u2717\u276f]/u;

/** Without control characters, which join nothing, except a line feed after a carriage return. */
const MAY_JOIN =
  /[^\u0000-\u000c\u000e-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u25ff\u2713\u2717\u276f]/u;

let whole: Intl.Segmenter | undefined;

/** In the locale of the process; `Intl.Segmenter` is built only for a text with other characters. */
export class GraphemeSegmenter {
  segment(text: string): Graphemes {
    if (!MAY_JOIN.test(text)) return segmentsOf(text);
    whole ??= new Intl.Segmenter();
    return whole.segment(text);
  }
}

interface Graphemes extends Iterable<Intl.SegmentData> {
  containing(index?: number): Intl.SegmentData | undefined;
}

/** Each UTF-16 unit is one grapheme. */
function segmentsOf(text: string): Graphemes {
  const at = (index: number): Intl.SegmentData => ({ segment: text.charAt(index), index, input: text });
  return {
    containing: (index = 0) => {
      const unit = Math.trunc(index) || 0;
      return unit < 0 || unit >= text.length ? undefined : at(unit);
    },
    *[Symbol.iterator]() {
      for (let index = 0; index < text.length; index += 1) yield at(index);
    },
  };
}
