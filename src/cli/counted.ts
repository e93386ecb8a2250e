import type { CommandContext } from './context.ts';

export interface Counted {
  /** Shows how many are done by now. */
  count(done: number): void;
  /** Removes the line. */
  end(): void;
}

/**
 * Progress on stderr, such as `asked 3 of 10 instances`: one line, removed at the end; nothing without a
 * terminal. `words` gives the line for a count.
 */
export function countedOn(
  { stderr }: Pick<CommandContext, 'stderr'>,
  words: (done: number) => string,
): Counted {
  const isDrawn = stderr.isTTY === true;
  const draw = (done: number) => {
    if (isDrawn) stderr.write(`\r\u001b[K${words(done)}`);
  };
  draw(0);
  return {
    count: draw,
    end: () => {
      if (isDrawn) stderr.write('\r\u001b[K');
    },
  };
}
