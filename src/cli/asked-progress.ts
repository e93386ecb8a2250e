import type { CommandContext } from './context.ts';

export interface AskedProgress {
  answered(count: number): void;
  /** Removes the line. */
  end(): void;
}

/**
 * Answers out of `total` on stderr: one line, removed at the end; nothing without a terminal. `more` follows.
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
