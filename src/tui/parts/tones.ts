import type { Tone } from '../../view/run-view.ts';
import type { Look } from '../span.ts';
import type { Token } from '../theme.ts';

/** The token of a tone. */
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

/** The sign that says a tone without colour; a blank for tones that say nothing. */
export function signOf(tone: Tone, look: Look): string {
  if (tone === 'good') return look.glyphs.done;
  if (tone === 'warn') return look.glyphs.warn;
  if (tone === 'bad') return look.glyphs.failed;
  return ' ';
}
