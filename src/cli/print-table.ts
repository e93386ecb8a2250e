import { type Column, formatTable } from '../plain/table.ts';
import { columnsOf, wantsColour } from '../plain/terminal.ts';
import type { CommandContext } from './context.ts';

/** Prints a table to stdout: cut to the terminal's width, whole in a pipe. */
export function printTable(
  { stdout, env }: CommandContext,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): void {
  const width = stdout.isTTY === true ? { width: columnsOf(stdout) } : {};
  stdout.write(`${formatTable(columns, rows, { ...width, colour: wantsColour(stdout, env) })}\n`);
}
