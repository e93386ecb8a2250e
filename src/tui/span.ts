import { show } from '../base/text.ts';
import type { Glyphs } from './glyphs.ts';
import type { Theme, Token } from './theme.ts';

/** A run of text with one meaning. Made by `span`, so it is printable. */
export interface Span {
  readonly text: string;
  readonly token: Token;
}

/** One row of the screen. */
export type Line = readonly Span[];

/** How this terminal is drawn on. */
export interface Look {
  readonly glyphs: Glyphs;
  readonly colour: boolean;
  /** Without it, that of the terminal. */
  readonly theme?: Theme | undefined;
}

export const BLANK: Line = [];

/** Longest text the screen takes from a view in one piece; a state's prose is far below it. */
export const TEXT_LIMIT = 4000;

/**
 * Printable text with a meaning: whatever could act on the terminal is replaced here, before widths are
 * measured.
 */
export function span(text: string, token: Token = 'text'): Span {
  return { text: show(text, TEXT_LIMIT), token };
}
