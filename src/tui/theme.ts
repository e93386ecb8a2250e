import type { Tone } from '../view/run-view.ts';
import type { Look } from './span.ts';

/** Parts name a token, never a colour; colour alone has no meaning: a glyph or word says the same. */
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
  readonly color?: Colour;
  readonly bold?: true;
  readonly dimColor?: true;
  readonly inverse?: true;
  readonly underline?: true;
}

/** The sixteen colours that every terminal has: its owner has chosen them to be readable. */
export type Colour =
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan'
  | 'redBright'
  | 'greenBright'
  | 'yellowBright'
  | 'cyanBright';

/** `terminal` suits every background; the others suit one, or people who need more contrast. */
export type Theme = (typeof THEMES)[number];

export const THEMES = ['terminal', 'dark', 'light', 'contrast'] as const;

/** The theme that LIFEBOAT_THEME names; if unset or unknown, that of the terminal. */
export function themeFor(env: Readonly<Record<string, string | undefined>>): Theme {
  return THEMES.find((theme) => theme === env['LIFEBOAT_THEME']) ?? 'terminal';
}

type Paints = Readonly<Record<Token, Paint>>;

/** Without any colour: statuses differ by weight, and everything else only slightly, to stay quiet. */
const COLOURLESS: Paints = {
  text: {},
  'text.strong': { bold: true },
  'text.dim': { dimColor: true },
  'text.code': {},
  accent: {},
  selected: { bold: true },
  cursor: { inverse: true },
  'status.ok': {},
  'status.warn': { bold: true },
  'status.bad': { bold: true, underline: true },
  frame: { dimColor: true },
  'frame.live': { bold: true },
  'badge.live': { bold: true, inverse: true },
  'badge.rehearsal': { bold: true },
};

const TERMINAL: Paints = {
  ...COLOURLESS,
  'text.code': { color: 'cyan' },
  accent: { color: 'cyan' },
  selected: { color: 'cyan', bold: true },
  'status.ok': { color: 'green' },
  'status.warn': { color: 'yellow', bold: true },
  'status.bad': { color: 'red', bold: true },
  'frame.live': { color: 'red', bold: true },
  'badge.live': { color: 'red', bold: true, inverse: true },
};

const PAINTS: Readonly<Record<Theme, Paints>> = {
  terminal: TERMINAL,
  dark: {
    ...TERMINAL,
    'text.code': { color: 'cyanBright' },
    accent: { color: 'cyanBright' },
    selected: { color: 'cyanBright', bold: true },
    'status.ok': { color: 'greenBright' },
    'status.warn': { color: 'yellowBright', bold: true },
    'status.bad': { color: 'redBright', bold: true },
    'frame.live': { color: 'redBright', bold: true },
    'badge.live': { color: 'redBright', bold: true, inverse: true },
  },
  // Yellow and cyan are hard to read on white.
  light: {
    ...TERMINAL,
    'text.code': { color: 'blue' },
    accent: { color: 'blue' },
    selected: { color: 'blue', bold: true },
    'status.warn': { color: 'magenta', bold: true },
  },
  // Neither dim nor coloured: only weight, inverse and underline.
  contrast: {
    ...COLOURLESS,
    'text.dim': {},
    'text.code': { underline: true },
    accent: { bold: true },
    selected: { bold: true, inverse: true },
    'status.ok': { bold: true },
    'status.warn': { bold: true, underline: true },
    'status.bad': { bold: true, inverse: true },
    frame: {},
    'badge.rehearsal': { bold: true, underline: true },
  },
};

/** Weight and inverse remain without colour: NO_COLOR asks for no colour, not for no emphasis. */
export function paintOf(token: Token, colour: boolean, theme: Theme = 'terminal'): Paint {
  if (theme === 'contrast' || colour) return PAINTS[theme][token];
  return COLOURLESS[token];
}

/** The colour numbers in SGR (ECMA-48). */
const COLOURS: Readonly<Record<Colour, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  redBright: 91,
  greenBright: 92,
  yellowBright: 93,
  cyanBright: 96,
};

/** Each attribute is ended by its own sequence, so that painted texts can follow each other. */
export function painted(text: string, { color, bold, dimColor, inverse, underline }: Paint): string {
  let whole = text;
  if (color !== undefined) whole = sgr(COLOURS[color], whole, 39);
  if (bold) whole = sgr(1, whole, 22);
  if (dimColor) whole = sgr(2, whole, 22);
  if (underline) whole = sgr(4, whole, 24);
  return inverse ? sgr(7, whole, 27) : whole;
}

function sgr(begin: number, text: string, end: number): string {
  return text === '' ? '' : `\u001b[${begin}m${text}\u001b[${end}m`;
}

export function tokenOf(tone: Tone): Token {
  switch (tone) {
    case 'plain':
      return 'text';
    case 'good':
      return 'status.ok';
    case 'warn':
      return 'status.warn';
    case 'bad':
      return 'status.bad';
    case 'dim':
      return 'text.dim';
  }
}

/** The sign that shows a tone without colour; a blank for tones without a meaning. */
export function signOf(tone: Tone, look: Look): string {
  if (tone === 'good') return look.glyphs.done;
  if (tone === 'warn') return look.glyphs.warn;
  if (tone === 'bad') return look.glyphs.failed;
  return ' ';
}
