import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { cells } from '../../plain/width.ts';

/** One line of a description; lines without a value are left out. */
export type FactLine = readonly [label: string, value: string | number | boolean | undefined];

/** Prints facts to stdout, one a line, values in one column. Values are cleaned. */
export function printFacts({ stdout }: CommandContext, facts: readonly FactLine[]): void {
  const present = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [[label, String(value)] as const],
  );
  const width = Math.max(0, ...present.map(([label]) => cells(label)));
  for (const [label, value] of present) {
    stdout.write(`${label}:${' '.repeat(width - cells(label) + 1)}${show(value)}\n`);
  }
}
