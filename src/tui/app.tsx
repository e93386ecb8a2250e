import { Box, useApp, useInput, usePaste, useWindowSize } from 'ink';
import { createElement, memo, useEffect, useMemo, useSyncExternalStore } from 'react';
import { show } from '../base/text.ts';
import type { Band, Pane, Size } from './bands.ts';
import { framesOf } from './frames.ts';
import type { Host } from './host.ts';
import { keyOf } from './keys.ts';
import { type Line, type Look, TEXT_LIMIT } from './span.ts';
import { painted, paintOf } from './theme.ts';

export interface AppProps {
  readonly host: Host;
  /** Gets the function that gives the terminal away for a while, as soon as there is one. */
  readonly onReady?: (suspend: ReturnType<typeof useApp>['suspendTerminal']) => void;
}

/**
 * The only component with a life of its own: it connects the stack of screens, the keyboard and the size of
 * the window.
 */
export function App({ host, onReady }: AppProps) {
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const size = useMemo(() => ({ columns, rows }), [columns, rows]);
  const frameIn = useMemo(() => framesOf(host), [host]);
  const bands = useSyncExternalStore(host.subscribe, () => frameIn(size));

  useInput((input, key) => host.press(keyOf(input, key), size));
  // Mounted always: only then does Ink ask the terminal to mark pastes, and a paste is never taken for keys.
  usePaste((text) => host.paste(text, size));
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);

  return <Screen bands={bands} size={size} look={host.look} />;
}

/**
 * Draws bands. They are exactly as large as the terminal, never larger: when a window gets smaller, Ink draws
 * what it has once more before the layout follows, and a row that is too long by then would be broken by the
 * terminal, and push all below it out of its place.
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
 * One text, whatever it is made of: for each text that Ink draws it computes a layout of its own. It is the
 * element below Ink's `Text`, which takes its size: a `Text` is measured, and styled by Ink, where a row is
 * styled already and as wide as its pane.
 */
const Row = memo(({ line, look, width }: { line: Line; look: Look; width: number }) =>
  createElement(
    'ink-text',
    { style: { textWrap: 'truncate-end', width, height: 1, flexShrink: 0 } },
    line.length === 0 ? ' ' : line.map((piece) => printed(piece, look)).join(''),
  ),
);

/**
 * The only place where text becomes part of the Ink tree. Ink lets colours and links in texts through, so
 * everything is made printable here once more, whatever came before.
 */
function printed({ text, token }: Line[number], look: Look): string {
  return painted(show(text, TEXT_LIMIT), paintOf(token, look.colour, look.theme));
}

/** Rows and cells have no identity but their place. */
function placeKey(at: number): string {
  return `at-${at}`;
}
