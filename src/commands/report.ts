import { homeFolder } from '../config/load.ts';
import { EXIT } from '../errors.ts';
import { openForReading } from '../journal/open-for-reading.ts';
import { findRun } from '../runner/runs.ts';
import type { CommandContext } from './context.ts';
import { writeReport } from './run-report.ts';

/** `lifeboat report RUN`: the record of a run in Markdown, from its journal alone. */
export async function report(context: CommandContext, [word]: readonly string[]): Promise<number> {
  const home = homeFolder(context.env);
  const journal = await openForReading({ home });
  try {
    const summary = await findRun(journal, word);
    context.stdout.write(await writeReport(journal, home, summary));
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}
