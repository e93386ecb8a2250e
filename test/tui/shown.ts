import type { Layout } from '../../src/tui/bands.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { textOf } from '../../src/tui/line.ts';
import type { Look } from '../../src/tui/span.ts';

/** What most tests of a screen look with. */
export const look: Look = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };

/** All text of a frame, pane by pane. */
export function textIn({ bands }: Layout): string {
  return bands.flatMap(({ panes }) => panes.flatMap(({ lines }) => lines.map(textOf))).join('\n');
}

/** The rows of a frame, across all panes. */
export function rowsIn({ bands }: Layout): string[] {
  return bands.flatMap(({ height, panes }) =>
    Array.from({ length: height }, (_, row) => panes.map(({ lines }) => textOf(lines[row] ?? [])).join('')),
  );
}
