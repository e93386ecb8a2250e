import { show } from '../base/text.ts';
import type { Glyphs } from './glyphs.ts';
import type { Theme, Token } from './theme.ts';

/** A run of text with one meaning. Made by `span`, so it is printable. */
export interface Span {
  readonly text: string;
  readonly token: Token;
}

export type Line = readonly Span[];

export interface Look {
  readonly glyphs: Glyphs;
  readonly colour: boolean;
  /** Default: the theme of the terminal. */
  readonly theme?: Theme | undefined;
}

export const BLANK: Line = [];

/** Longest text that the screen takes from a view in one piece; the prose of a state is far shorter. */
export const TEXT_LIMIT = 4000;

/** Replaces whatever could control the terminal, before widths are measured. */
export function span(text: string, token: Token = 'text'): Span {
  return { text: show(text, TEXT_LIMIT), token };
}
