import type { CommandContext } from '../../cli/context.ts';

/**
 * How many instances have answered, on stderr: one line that goes away again, and nothing without a terminal.
 */
export function statusProgress(
  { stderr }: Pick<CommandContext, 'stderr'>,
  total: number,
): { answered(count: number): void; end(): void } {
  const isDrawn = stderr.isTTY === true;
  const draw = (count: number) => {
    if (isDrawn) stderr.write(`\r\u001b[Kasked ${count} of ${total}`);
  };
  draw(0);
  return {
    answered: draw,
    end: () => {
      if (isDrawn) stderr.write('\r\u001b[K');
    },
  };
}
