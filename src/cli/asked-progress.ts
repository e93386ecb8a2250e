import type { CommandContext } from './context.ts';

/** How far the asking of many is. */
export interface AskedProgress {
  answered(count: number): void;
  /** Takes the line away. */
  end(): void;
}

/**
 * How many of `total` have answered, on stderr: one line that goes away again, and nothing without a
 * terminal. `more` stands behind it.
 */
export function askedProgress(
  { stderr }: Pick<CommandContext, 'stderr'>,
  total: number,
  more = '',
): AskedProgress {
  const isDrawn = stderr.isTTY === true;
  const draw = (count: number) => {
    if (isDrawn) stderr.write(`\r\u001b[Kasked ${count} of ${total}${more}`);
  };
  draw(0);
  return {
    answered: draw,
    end: () => {
      if (isDrawn) stderr.write('\r\u001b[K');
    },
  };
}
