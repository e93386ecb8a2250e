import { cells, cutText } from '../../plain/width.ts';
import type { Badge } from '../../view/app/sources.ts';
import { band, isTooSmall, type Layout, type Size } from '../bands.ts';
import { cutLine, limitRows, lineWidth, padLine, wrapLine } from '../line.ts';
import type { ShownKey } from '../live-screen.ts';
import { type Line, type Look, type Span, span } from '../span.ts';
import { headerLine, ruleOf } from './header.ts';

export interface Framed {
  readonly badge: Badge | undefined;
  readonly subject: string;
  readonly title: string;
  readonly now: Date;
  readonly keys: readonly ShownKey[];
  readonly body: Layout;
}

/** The size of the body: one row above and one below belong to the frame. */
export function bodySize({ columns, rows }: Size): Size {
  return { columns, rows: Math.max(0, rows - 2) };
}

export function framed(
  { badge, subject, title, now, keys, body }: Framed,
  { columns }: Size,
  look: Look,
): Layout {
  const clock = now.toISOString().slice(0, 19).replace('T', ' ');
  const header = headerLine(
    { ...(badge === undefined ? {} : { mode: badge }), instance: subject, title, clock },
    columns,
    look,
    cells,
    (text, width) => cutText(text, width, look.glyphs.ellipsis),
  );
  return {
    page: body.page,
    bands: [band([header], columns), ...body.bands, band([keysLine(badge, keys, columns, look)], columns)],
  };
}

/** The last key, the way out, is always shown. */
function keysLine(badge: Badge | undefined, keys: readonly ShownKey[], width: number, look: Look): Line {
  const shown = keys.filter((key) => key.inFooter && key.shown !== '' && key.disabled === undefined);
  const [last] = shown.slice(-1);
  return footerLine(badge, shown, last === undefined ? [] : [last, ...shown.slice(0, -1)], width, look);
}

/**
 * Keys in the bottom rule, in order; those that do not fit are only in the help. The first of `ranked` are
 * placed first.
 */
export function footerLine<Key extends Pick<ShownKey, 'shown' | 'label'>>(
  badge: Badge | undefined,
  keys: readonly Key[],
  ranked: readonly Key[],
  width: number,
  look: Look,
): Line {
  const rule = ruleOf(badge, look);
  const line: Span[] = [{ ...rule, text: `${rule.text.repeat(2)} ` }];
  let used = lineWidth(line);
  const entries = new Map<Key, Span[]>();
  for (const key of ranked) {
    const entry = [span(key.shown, 'text.strong'), span(` ${key.label}`), span('  ')];
    const wide = lineWidth(entry);
    // The rule needs room to close the line.
    if (used + wide >= width) continue;
    entries.set(key, entry);
    used += wide;
  }
  line.push(...keys.flatMap((key) => entries.get(key) ?? []));
  line.push({ ...rule, text: rule.text.repeat(Math.max(0, width - used)) });
  return cutLine(line, width, look);
}

const MAX_SAID = 4;

/**
 * Makes room for a message below the body: the cursor row stays visible, because the next key acts on it. If
 * the body would become too small, it is covered instead.
 */
export function withRoomForSaid(
  layOut: (size: Size) => Layout,
  said: string,
  size: Size,
  look: Look,
): Layout {
  const left = { ...size, rows: size.rows - saidLines(said, size, look).length + 1 };
  return withSaid(layOut(isTooSmall(left) ? size : left), said, size, look);
}

function saidLines(said: string, size: Size, look: Look): readonly Line[] {
  const { columns } = size;
  const most = isTooSmall(size) ? 1 : MAX_SAID;
  const rows = wrapLine([span(said, 'selected')], columns - 2);
  return limitRows(rows, most, columns - 2, look).map((row) =>
    padLine([span(' ', 'selected'), ...row, span(' ', 'selected')], columns),
  );
}

/** Draws a message over the lowest rows until the next key; in too small a window, over the last one. */
export function withSaid(layout: Layout, said: string, size: Size, look: Look): Layout {
  const { columns } = size;
  const lines = saidLines(said, size, look);
  const laidOut = layout.bands.reduce((sum, { height }) => sum + height, 0);
  let missing = lines.length - (size.rows - laidOut);
  const above = layout.bands.toReversed().flatMap((whole) => {
    const height = Math.max(0, whole.height - missing);
    missing -= whole.height - height;
    const panes = whole.panes.map((pane) => ({ ...pane, height, lines: pane.lines.slice(0, height) }));
    return height > 0 ? [{ height, panes }] : [];
  });
  return { ...layout, bands: [...above.toReversed(), band(lines, columns)] };
}
