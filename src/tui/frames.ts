import type { Band, Layout, Pane, Size } from './bands.ts';
import type { Line } from './span.ts';

/** What is laid out, and how often it may have changed. */
export interface Drawn {
  /** Changes whenever what is drawn may have changed. */
  version(): number;
  layOut(size: Size): Layout;
}

/**
 * The bands of the screen in a size, made of the parts of the frame before wherever they look the same: what
 * has not changed is not drawn again, and a frame that looks like the last one is the last one.
 */
export function framesOf(drawn: Drawn): (size: Size) => readonly Band[] {
  let last: { readonly version: number; readonly size: Size; readonly bands: readonly Band[] } | undefined;
  return (size) => {
    const version = drawn.version();
    if (last?.version !== version || last.size !== size)
      last = { version, size, bands: kept(last?.bands, drawn.layOut(size).bands, keptBand) };
    return last.bands;
  };
}

function keptBand(before: Band | undefined, after: Band): Band {
  const panes = kept(before?.panes, after.panes, keptPane);
  return before?.height === after.height && before.panes === panes ? before : { ...after, panes };
}

function keptPane(before: Pane | undefined, after: Pane): Pane {
  const lines = kept(before?.lines, after.lines, keptLine);
  const isSame = before?.lines === lines && before.width === after.width && before.height === after.height;
  return isSame ? before : { ...after, lines };
}

function keptLine(before: Line | undefined, after: Line): Line {
  const isSame =
    before?.length === after.length &&
    before.every(({ text, token }, at) => text === after[at]?.text && token === after[at]?.token);
  return isSame ? before : after;
}

/** A list in which each part is the one before where that looks the same; the list before if all are. */
function kept<Part>(
  before: readonly Part[] | undefined,
  after: readonly Part[],
  keptPart: (before: Part | undefined, after: Part) => Part,
): readonly Part[] {
  const parts = after.map((part, at) => keptPart(before?.[at], part));
  const isSame = before?.length === parts.length && parts.every((part, at) => part === before[at]);
  return isSame ? before : parts;
}
