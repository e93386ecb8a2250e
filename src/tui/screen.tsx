import { Box, Text } from 'ink';
import type { Layout, Pane, Size } from './layout.ts';
import { Plain } from './parts/plain.tsx';
import type { Line, Look } from './span.ts';

/**
 * Draws a layout. It is exactly as large as the terminal, never larger: when a window gets smaller, Ink draws
 * what it has once more before the layout follows, and a row that is too long by then would be broken by the
 * terminal, and push all below it out of its place.
 */
export function Screen({ layout, size, look }: { layout: Layout; size: Size; look: Look }) {
  return (
    <Box width="100%" overflow="hidden">
      <Box flexDirection="column" width={size.columns} height={size.rows} flexShrink={0} overflow="hidden">
        {layout.bands.map(({ height, panes }, at) => (
          <Box key={placeKey(at)} height={height} flexShrink={0}>
            {panes.map((pane, column) => (
              <PaneBox key={placeKey(column)} pane={pane} look={look} />
            ))}
          </Box>
        ))}
      </Box>
    </Box>
  );
}

function PaneBox({ pane, look }: { pane: Pane; look: Look }) {
  return (
    <Box flexDirection="column" width={pane.width} height={pane.height} flexShrink={0} overflow="hidden">
      {pane.lines.map((line, at) => (
        <Row key={placeKey(at)} line={line} look={look} />
      ))}
    </Box>
  );
}

function Row({ line, look }: { line: Line; look: Look }) {
  if (line.length === 0) return <Text> </Text>;
  return (
    <Text wrap="truncate-end">
      {line.map((piece, at) => (
        <Plain key={placeKey(at)} text={piece.text} token={piece.token} colour={look.colour} />
      ))}
    </Text>
  );
}

/** Rows and cells have no identity but their place. */
function placeKey(at: number): string {
  return `at-${at}`;
}
