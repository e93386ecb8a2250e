import { printableJson } from '../base/text.ts';
import type { CommandContext } from './context.ts';

/** Prints a value to stdout as one line of JSON that no terminal acts on. */
export function printJson({ stdout }: Pick<CommandContext, 'stdout'>, value: unknown): void {
  stdout.write(`${printableJson(value)}\n`);
}
