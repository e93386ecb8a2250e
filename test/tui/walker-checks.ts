import { isTooSmall, type Layout, type Size } from '../../src/tui/bands.ts';
import { lineWidth, textOf } from '../../src/tui/line.ts';
import type { LiveScreen } from '../../src/tui/live-screen.ts';
import type { Line } from '../../src/tui/span.ts';
import { FORBIDDEN } from './hostile-views.ts';

/** What is wrong with a frame, in words; empty for one that is whole. */
export function troublesOf(layout: Layout, { columns, rows }: Size): readonly string[] {
  const height = layout.bands.reduce((sum, one) => sum + one.height, 0);
  const bands = layout.bands.flatMap(({ height: tall, panes }, at) => {
    const wide = panes.reduce((sum, { width }) => sum + width, 0);
    return [
      ...(wide > columns ? [`band ${at} is ${wide} of ${columns} columns wide`] : []),
      ...panes.flatMap((pane) => [
        ...(pane.height === tall ? [] : [`a pane of band ${at} is ${pane.height} and not ${tall} high`]),
        ...(pane.lines.length > tall ? [`a pane of band ${at} has ${pane.lines.length} lines`] : []),
        ...pane.lines.flatMap((line) => troublesOfLine(line, pane.width)),
      ]),
    ];
  });
  return [...(height === rows ? [] : [`the frame is ${height} of ${rows} rows high`]), ...bands];
}

function troublesOfLine(line: Line, width: number): readonly string[] {
  const written = textOf(line);
  return [
    ...(lineWidth(line) > width ? [`${lineWidth(line)} of ${width} cells: ${written}`] : []),
    ...(FORBIDDEN.test(written) || written.includes('\n')
      ? [`a control character is left in ${JSON.stringify(written)}`]
      : []),
  ];
}

/** What is wrong with what a screen says of itself: what is at stake, and which keys work. */
export function troublesAround(screen: LiveScreen, layout: Layout, size: Size): readonly string[] {
  if (isTooSmall(size)) return [];
  const header = rowOf(layout, 0);
  const keys = screen.keys();
  const names = keys.filter(({ disabled }) => disabled === undefined).flatMap((key) => key.keys);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const mute = keys.filter(
    ({ disabled, shown, description }) => disabled === '' || (shown !== '' && description === ''),
  );
  const isMuteField =
    screen.isTyping() && screen.title() !== 'find anything' && !keys.some(({ shown }) => shown === 'Ctrl-K');
  return [
    // Before the config is read nothing is claimed: the name of the program stands there.
    ...(/^\S* (?:LIVE|REHEARSAL|MIXED|lifeboat) /u.test(header) ? [] : [`no badge in the header: ${header}`]),
    ...(keys.some(({ inFooter, shown }) => inFooter && shown !== '') ? [] : ['no key in the footer']),
    ...twice.map((name) => `the key ${name} means two things`),
    ...mute.map(({ shown, label }) => `the key ${shown} (${label}) does not say what it does, or why not`),
    ...(isMuteField ? ['a field does not name the key that opens the palette, and ? is text there'] : []),
    ...(layout.page.height >= 1 && layout.page.last >= 0 ? [] : ['the page to scroll by is impossible']),
  ];
}

/** The text of a row, counted from above; of the left pane, where there are several. */
export function rowOf({ bands }: Layout, row: number): string {
  let above = 0;
  for (const { height, panes } of bands) {
    if (row < above + height) return textOf(panes[0]?.lines[row - above] ?? []);
    above += height;
  }
  return '';
}
