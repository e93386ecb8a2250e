import { Box, useApp, useInput, usePaste, useWindowSize } from 'ink';
import { createElement, memo, useEffect, useMemo, useSyncExternalStore } from 'react';
import { show } from '../base/text.ts';
import type { Band, Layout, Pane, Size } from './bands.ts';
import type { Host } from './host.ts';
import { keyOf } from './keys.ts';
import { type Line, type Look, TEXT_LIMIT } from './span.ts';
import { painted, paintOf } from './theme.ts';

export interface AppProps {
  readonly host: Host;
  /** Receives the function that gives up the terminal for a while, as soon as it exists. */
  readonly onReady?: (suspend: ReturnType<typeof useApp>['suspendTerminal']) => void;
}

/** Connects the stack of screens with the keyboard and the window size. */
export function App({ host, onReady }: AppProps) {
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const size = useMemo(() => ({ columns, rows }), [columns, rows]);
  const frameIn = useMemo(() => framesOf(host), [host]);
  const bands = useSyncExternalStore(host.subscribe, () => frameIn(size));

  useInput((input, key) => host.press(keyOf(input, key), size));
  // Always mounted: only then does Ink ask the terminal to mark pastes, so that no paste is taken for keys.
  usePaste((text) => host.paste(text, size));
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);

  return <Screen bands={bands} size={size} look={host.look} />;
}

/**
 * Draws bands that fill the terminal exactly. When the window shrinks, Ink draws the old content once more,
 * and the terminal would wrap a row that is too long and shift everything below it.
 */
function Screen({ bands, size, look }: { bands: readonly Band[]; size: Size; look: Look }) {
  return (
    <Box width="100%" overflow="hidden">
      <Box flexDirection="column" width={size.columns} height={size.rows} flexShrink={0} overflow="hidden">
        {bands.map((band, at) => (
          <BandBox key={placeKey(at)} band={band} look={look} />
        ))}
      </Box>
    </Box>
  );
}

const BandBox = memo(({ band, look }: { band: Band; look: Look }) => (
  <Box height={band.height} flexShrink={0}>
    {band.panes.map((pane, column) => (
      <PaneBox key={placeKey(column)} pane={pane} look={look} />
    ))}
  </Box>
));

const PaneBox = memo(({ pane, look }: { pane: Pane; look: Look }) => (
  <Box flexDirection="column" width={pane.width} height={pane.height} flexShrink={0} overflow="hidden">
    {pane.lines.map((line, at) => (
      <Row key={placeKey(at)} line={line} look={look} width={pane.width} />
    ))}
  </Box>
));

/**
 * One text node for each row, because Ink computes a layout for every text. It is the element below Ink's
 * `Text`, without its measuring and styling: the row is styled and has its width already.
 */
const Row = memo(({ line, look, width }: { line: Line; look: Look; width: number }) =>
  createElement(
    'ink-text',
    { style: { textWrap: 'truncate-end', width, height: 1, flexShrink: 0 } },
    line.length === 0 ? ' ' : line.map((piece) => printed(piece, look)).join(''),
  ),
);

/**
 * The only place where text enters the Ink tree. Ink passes colours and links through, so everything is made
 * printable here once more.
 */
function printed({ text, token }: Line[number], look: Look): string {
  return painted(show(text, TEXT_LIMIT), paintOf(token, look.colour, look.theme));
}

/** Rows and cells are identified by position. */
function placeKey(at: number): string {
  return `at-${at}`;
}

/** Something to lay out, with a version that says when it may have changed. */
interface Drawn {
  /** Changes whenever the drawn content may have changed. */
  version(): number;
  layOut(size: Size): Layout;
}

/**
 * The bands of the screen at a size. Parts equal to the previous frame's are reused, so that React does not
 * draw them again.
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

/** Replaces each part by the previous one if both look the same; returns the previous list if all do. */
function kept<Part>(
  before: readonly Part[] | undefined,
  after: readonly Part[],
  keptPart: (before: Part | undefined, after: Part) => Part,
): readonly Part[] {
  const parts = after.map((part, at) => keptPart(before?.[at], part));
  const isSame = before?.length === parts.length && parts.every((part, at) => part === before[at]);
  return isSame ? before : parts;
}
