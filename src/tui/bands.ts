import { counted } from '../base/format.ts';
import { cutLine, wrapLine } from './line.ts';
import { BLANK, type Line, type Look, span } from './span.ts';

/** The size of the terminal, in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A part of the screen with its size in cells. Its lines never exceed it. */
export interface Pane {
  readonly width: number;
  readonly height: number;
  readonly lines: readonly Line[];
}

/** One pane, or several side by side. */
export interface Band {
  readonly height: number;
  readonly panes: readonly Pane[];
}

/** How far the text on the screen can be scrolled; known only after its layout. */
export interface Page {
  readonly height: number;
  readonly last: number;
}

/** The whole screen: bands from top to bottom. Heights add up to the rows. */
export interface Layout {
  readonly bands: readonly Band[];
  readonly page: Page;
}

/** In a smaller terminal only a short hint is drawn, and nothing can be answered: it would be unreadable. */
const SMALLEST: Size = { columns: 40, rows: 12 };

/** From this many columns on, there is room for a column beside the text. */
export const WIDE = 120;

/** From this many columns on, there is room for the rail beside the text. */
export const MIDDLE = 80;

export const GAP = 3;

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows;
}

/** A band of one pane; cuts what does not fit into `height`. */
export function band(lines: readonly Line[], width: number, height = lines.length): Band {
  return { height, panes: [{ width, height, lines: lines.slice(0, height) }] };
}

export function tooSmall(title: string, { columns, rows }: Size, look: Look): Layout {
  const advice = ['this window is too small', `make it at least ${SMALLEST.columns} x ${SMALLEST.rows}`];
  const wrapped = advice.flatMap((text) => wrapLine([span(text)], columns));
  const head = wrapped.length < rows ? [cutLine([span(title)], columns, look)] : [];
  const lines = [...head, ...wrapped].slice(-rows);
  return { page: { height: 1, last: 0 }, bands: [band(lines, columns, rows)] };
}

export function wall(height: number, look: Look): Pane {
  return {
    width: GAP,
    height,
    lines: Array.from({ length: height }, () => [span(` ${look.glyphs.wall} `, 'frame')]),
  };
}

/** A window onto text that may be longer; its last row says if there is more, and how to enlarge it. */
export function scrolled(
  lines: readonly Line[],
  scroll: number,
  width: number,
  height: number,
  look: Look,
  larger = '',
) {
  const rows = Math.max(0, height);
  if (lines.length <= rows) return { shown: lines, page: { height: Math.max(1, rows), last: 0 } };
  const text = Math.max(1, rows - 1);
  const last = lines.length - text;
  const first = Math.min(scroll, last);
  const below = lines.length - first - text;
  const note =
    below > 0
      ? `${look.glyphs.more} ${counted(below, 'more row')}: Tab${larger}`
      : `the end: Tab shows the beginning${larger}`;
  const shown = [...lines.slice(first, first + text), cutLine([span(note, 'text.dim')], width, look)];
  return { shown: shown.slice(0, rows), page: { height: text, last } };
}

export function filledUp(lines: readonly Line[], height: number): readonly Line[] {
  return [...lines, ...Array.from({ length: Math.max(0, height - lines.length) }, () => BLANK)].slice(
    0,
    height,
  );
}

const STILL: Page = { height: 1, last: 0 };

/** One pane for the whole body of a screen, with blank rows below. */
export function wholeBody(lines: readonly Line[], { columns, rows }: Size, page = STILL): Layout {
  return { page, bands: [band(filledUp(lines, rows), columns, rows)] };
}

export function scrolledBody(lines: readonly Line[], scroll: number, size: Size, look: Look): Layout {
  const { shown, page } = scrolled(lines, scroll, size.columns, size.rows, look);
  return wholeBody(shown, size, page);
}
