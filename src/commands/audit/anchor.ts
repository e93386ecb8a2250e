import { homeFolder } from '../../config/load.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import { findRun } from '../../runner/runs.ts';
import type { Head, JournalReader } from '../../store/journal.ts';
import { anchorOf } from '../../store/log/anchor.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { openForReading } from '../../store/open-for-reading.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { whereRunIs } from '../drill/drill-homes.ts';

/** `lifeboat audit anchor [RUN]`: the head of a run, or with `--instance` of a ledger, in one line for the ticket. */
export async function auditAnchorCommand(
  context: CommandContext,
  [word]: readonly string[],
  { instance }: { readonly instance?: string },
): Promise<number> {
  const { env } = await whereRunIs(context, word);
  const journal = await openForReading({ home: homeFolder(env) });
  try {
    const run = async () => journal.head(`run/${(await findRun(journal, word)).runId}`);
    const heads = [
      ...(word === undefined && instance !== undefined ? [] : [await run()]),
      ...(instance === undefined ? [] : [await ledgerOf(journal, instance)]),
    ];
    for (const head of heads) context.stdout.write(`${anchorOf(head)}\n`);
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

async function ledgerOf(journal: JournalReader, instance: string): Promise<Head> {
  const stream = `instance/${instance}`;
  const head = isStreamName(stream) ? await journal.head(stream) : undefined;
  if (head !== undefined && head.seq > 0) return head;
  throw new LifeboatError('audit.none', `nothing is on record of instance ${show(instance, 80)}`, {
    exitCode: EXIT.usage,
  });
}
