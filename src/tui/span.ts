import { show } from '../base/text.ts';
import type { Glyphs } from './glyphs.ts';
import type { Theme, Token } from './theme.ts';

/** Made by `span`, so printable. */
export interface Span {
  readonly text: string;
  readonly token: Token;
}

export type Line = readonly Span[];

export interface Look {
  readonly glyphs: Glyphs;
  readonly colour: boolean;
  /** Default: the terminal's. */
  readonly theme?: Theme | undefined;
}

export const BLANK: Line = [];

/** In one piece; a state's prose is far shorter. */
export const TEXT_LIMIT = 4000;

/** Replaces whatever could control the terminal, before widths are measured. */
export function span(text: string, token: Token = 'text'): Span {
  return { text: show(text, TEXT_LIMIT), token };
}
