import type { CommandContext } from './context.ts';

/** The progress of asking many instances. */
export interface AskedProgress {
  answered(count: number): void;
  /** Removes the line. */
  end(): void;
}

/**
 * The number of answers out of `total`, on stderr: one line that is removed at the end, and nothing without a
 * terminal. `more` follows it.
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
