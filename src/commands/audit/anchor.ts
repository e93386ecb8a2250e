import { homeFolder } from '../../config/load.ts';
import { EXIT } from '../../errors.ts';
import { anchorOf } from '../../evidence/anchor.ts';
import { openForReading } from '../../journal/open-for-reading.ts';
import { findRun } from '../../runner/runs.ts';
import type { CommandContext } from '../context.ts';

/** `lifeboat audit anchor [RUN]`: the head of a run in one line for the ticket. */
export async function auditAnchorCommand(
  context: CommandContext,
  [word]: readonly string[],
): Promise<number> {
  const journal = await openForReading({ home: homeFolder(context.env) });
  try {
    const { runId } = await findRun(journal, word);
    context.stdout.write(`${anchorOf(await journal.head(`run/${runId}`))}\n`);
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}
