import { Text } from 'ink';
import { show } from '../../base/text.ts';
import { TEXT_LIMIT } from '../span.ts';
import { paintOf, type Token } from '../theme.ts';

/**
 * The only place where text becomes part of the Ink tree. Ink lets colours and links in texts through, so
 * everything is made printable here once more, whatever came before.
 */
export function Plain({ text, token, colour }: { text: string; token: Token; colour: boolean }) {
  return <Text {...paintOf(token, colour)}>{show(text, TEXT_LIMIT)}</Text>;
}
