import { type Command, Option } from 'commander';
import type { CommandContext } from './context.ts';

/** What every command gives back: its exit code. */
type Action<Options> = (
  context: CommandContext,
  args: readonly string[],
  options: Options,
) => Promise<number>;

/** Adds a command whose code is loaded when it is called. */
export type Define = <Options>(
  parent: Command,
  nameAndArgs: string,
  description: string,
  load: () => Promise<Action<Options>>,
  options?: readonly Option[],
  how?: { readonly hidden?: boolean },
) => Command;

/** A command that only holds others. */
export function group(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).exitOverride();
}

/** What every flag for a point in time takes: `momentFrom` reads them all. */
export const TIME = 'the point in time: 2026-03-01T02:59:00Z, 14:32, "10 minutes ago"';

/** The flag for machines. */
export function json(description: string): Option {
  return new Option('--json', description);
}
