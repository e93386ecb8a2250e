import { Box, Text } from 'ink';
import { show } from '../base/text.ts';
import type { Layout, Pane, Size } from './layout.ts';
import { type Line, type Look, TEXT_LIMIT } from './span.ts';
import { paintOf, type Token } from './theme.ts';

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

/**
 * The only place where text becomes part of the Ink tree. Ink lets colours and links in texts through, so
 * everything is made printable here once more, whatever came before.
 */
function Plain({ text, token, colour }: { text: string; token: Token; colour: boolean }) {
  return <Text {...paintOf(token, colour)}>{show(text, TEXT_LIMIT)}</Text>;
}

/** Rows and cells have no identity but their place. */
function placeKey(at: number): string {
  return `at-${at}`;
}
