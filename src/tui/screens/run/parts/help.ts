import { padLine, ruleLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';
import type { Mode } from '../key-binding.ts';
import { bindingsIn } from '../keymap.ts';

const KEY_WIDTH = 12;

/** What the keys do in this mode, and what the signs mean. */
export function helpLines(mode: Mode, width: number, look: Look): Line[] {
  const { glyphs } = look;
  const signs =
    `${glyphs.done} done  ${glyphs.current} now  ${glyphs.ahead} ahead  ` +
    `${glyphs.skipped} skipped  ${glyphs.failed} failed  ${glyphs.warn} look here`;
  const entries: readonly (readonly [string, string])[] = [
    ...bindingsIn(mode).map(({ shown, description }) => [shown, description] as const),
    ['signs', signs],
    mode === 'looking'
      ? ['leaving', 'ends only your watching: the run goes on']
      : [
          'leaving',
          'is safe: each step is on record before it is taken, and the run resumes where you left it',
        ],
  ];
  return [ruleLine('help', width, look, 'accent'), ...entries.flatMap((entry) => entryLines(entry, width))];
}

function entryLines([term, meaning]: readonly [string, string], width: number): Line[] {
  return wrapLine([span(meaning)], Math.max(10, width - KEY_WIDTH)).map((row, at) => [
    ...padLine(at === 0 ? [span(term, 'text.strong')] : [], KEY_WIDTH),
    ...row,
  ]);
}
