/**
 * What a piece of text means. Parts name a token, never a colour, and no meaning hangs on the colour alone: a
 * glyph or a word always says the same.
 */
export type Token =
  | 'text'
  | 'text.strong'
  | 'text.dim'
  | 'text.code'
  | 'accent'
  | 'selected'
  | 'cursor'
  | 'status.ok'
  | 'status.warn'
  | 'status.bad'
  | 'frame'
  | 'frame.live'
  | 'badge.live'
  | 'badge.rehearsal';

export interface Paint {
  readonly color?: 'red' | 'green' | 'yellow' | 'cyan';
  readonly bold?: true;
  readonly dimColor?: true;
  readonly inverse?: true;
}

/*
 * Only the terminal's own named colours and its default foreground: its owner has chosen them to be readable
 * on the owner's background, light or dark.
 */
const PAINTS: Readonly<Record<Token, Paint>> = {
  text: {},
  'text.strong': { bold: true },
  'text.dim': { dimColor: true },
  'text.code': { color: 'cyan' },
  accent: { color: 'cyan' },
  selected: { color: 'cyan', bold: true },
  cursor: { inverse: true },
  'status.ok': { color: 'green' },
  'status.warn': { color: 'yellow', bold: true },
  'status.bad': { color: 'red', bold: true },
  frame: { dimColor: true },
  'frame.live': { color: 'red', bold: true },
  'badge.live': { color: 'red', bold: true, inverse: true },
  'badge.rehearsal': { bold: true },
};

/**
 * How to paint a token. Without colour, weight and inverse stay: NO_COLOR asks for no colour, not for no
 * emphasis.
 */
export function paintOf(token: Token, colour: boolean): Paint {
  const { color, ...plain } = PAINTS[token];
  return color === undefined || !colour ? plain : { ...plain, color };
}
