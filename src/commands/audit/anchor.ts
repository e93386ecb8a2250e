import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { whereRunIs } from '../drill/drill-homes.ts';

/**
 * `lifeboat audit anchor [RUN]`: the head of the store in one line for the ticket; it pins every run and
 * ledger. A run is named to find the store of a drill.
 */
export async function auditAnchorCommand(
  context: CommandContext,
  [word]: readonly string[],
): Promise<number> {
  const reader = await openReaderOf(await whereRunIs(context, word));
  try {
    const anchor = await anchorOfHead(reader.log);
    if (anchor === undefined)
      throw new LifeboatError('audit.none', 'nothing is on record here', { exitCode: EXIT.usage });
    await printResult(context, 'anchor', { anchor }, () => {
      context.stdout.write(`${anchor}\n`);
    });
    return EXIT.closed;
  } finally {
    await reader.close();
  }
}
