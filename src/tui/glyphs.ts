import { type Streams, speaksUnicode } from '../plain/terminal.ts';

/** Characters for drawing. Each has an ASCII form of one cell for locales without Unicode. */
export interface Glyphs {
  readonly done: string;
  readonly current: string;
  readonly ahead: string;
  readonly skipped: string;
  readonly failed: string;
  readonly warn: string;
  readonly cursor: string;
  readonly bullet: string;
  readonly quote: string;
  readonly wall: string;
  readonly rule: string;
  readonly loudRule: string;
  readonly full: string;
  readonly empty: string;
  readonly dot: string;
  readonly more: string;
  readonly ellipsis: string;
  /** For charts, from the lowest value to the highest; each character is one cell. */
  readonly levels: string;
}

const UNICODE: Glyphs = {
  done: '✓',
  current: '▸',
  ahead: '·',
  skipped: '↷',
  failed: '✗',
  warn: '!',
  cursor: '❯',
  bullet: '•',
  quote: '│',
  wall: '│',
  rule: '─',
  loudRule: '═',
  full: '█',
  empty: '░',
  dot: '•',
  more: '↓',
  ellipsis: '…',
  levels: '▁▂▃▄▅▆▇█',
};

const ASCII: Glyphs = {
  done: '+',
  current: '>',
  ahead: '.',
  skipped: '~',
  failed: 'x',
  warn: '!',
  cursor: '>',
  bullet: '*',
  quote: '|',
  wall: '|',
  rule: '-',
  loudRule: '=',
  full: '#',
  empty: '.',
  dot: '*',
  more: 'v',
  ellipsis: '~',
  levels: '.:-=+*%#',
};

export function glyphsFor(env: Streams['env']): Glyphs {
  return speaksUnicode(env) ? UNICODE : ASCII;
}
