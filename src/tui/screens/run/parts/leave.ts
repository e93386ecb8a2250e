import type { RunView } from '../../../../view/run-view.ts';
import { ruleLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';

/** The two ways on from the leave dialogue, the safe one first. */
export const LEAVE_CHOICES = ['stay', 'leave'] as const;

/**
 * The leave dialogue. Leaving harms nothing, and it says so; where nobody can carry the run on, it says that.
 */
export function leaveLines(
  { runId, gone }: Pick<RunView, 'runId' | 'gone'>,
  cursor: number,
  width: number,
  look: Look,
): Line[] {
  const choices = [
    ['stay', 'go on with the run here'],
    ['leave', gone ?? `the run stays open; resume it with \`lifeboat resume ${runId}\``],
  ] as const;
  return [
    ruleLine('leave this run?', width, look, 'accent'),
    ...choices.flatMap(([label, meaning], at) => [
      [
        span(at === cursor ? `${look.glyphs.cursor} ` : '  ', 'selected'),
        span(label, at === cursor ? 'selected' : 'text'),
      ],
      ...wrapLine([span(`    ${meaning}`, 'text.dim')], width, 4),
    ]),
  ];
}
