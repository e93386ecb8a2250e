import { readable } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printTable } from '../../cli/print-table.ts';
import type { Check } from './check.ts';

/** Prints checks to stdout as a table, then what is to be done about them. */
export function printChecks(context: CommandContext, checks: readonly Check[]): void {
  const rows = checks.map(({ state, what, found }) => [
    state === 'bad' ? 'BAD' : state,
    what,
    readable(found),
  ]);
  const columns = [{ title: 'state' }, { title: 'what' }, { title: 'found', gives: true }];
  printTable(context, columns, rows);
  for (const { what, hints } of checks)
    for (const hint of hints) context.stdout.write(`hint (${what}): ${hint}\n`);
}
