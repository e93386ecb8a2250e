import { failureOf, LifeboatError, problemLine } from '../../base/errors.ts';
import { readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printTable, type ResultOf } from '../../cli/print-result.ts';

export type Check = ResultOf<'doctor'>['items'][number];

/** Runs a check that only reads; an error becomes a bad check. */
export async function attempt<T>(
  what: string,
  act: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly check: Check }> {
  try {
    return { value: await act() };
  } catch (thrown) {
    const failure = failureOf(thrown);
    const cause = failure.evidence['error'];
    const isNew = typeof cause === 'string' && !failure.shortMessage.endsWith(cause);
    const found = isNew ? `${failure.shortMessage}: ${cause}` : failure.shortMessage;
    const more = thrown instanceof LifeboatError ? thrown.problems.slice(1).map(problemLine) : [];
    const credentials = failure.code.startsWith('credentials.') || failure.code === 'service.forbidden';
    return {
      check: {
        what,
        state: 'bad',
        found: show(found),
        hints: [...more, ...failure.hints].map((hint) => show(hint)),
        credentials,
      },
    };
  }
}

export function good(what: string, found: string): Check {
  return { what, state: 'ok', found, hints: [] };
}

/** Prints checks to stdout as a table, then what to do about them. */
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
