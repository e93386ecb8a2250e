import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printRecord } from '../../cli/print-result.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { findRun } from '../../runner/runs.ts';
import type { Entry, JournalReader } from '../../store/journal.ts';
import { whereRunIs } from '../drill/drill-homes.ts';

/** `lifeboat audit show [RUN]`: a line for each entry of a run, an instance's ledger, or every stream. */
export const auditShowCommand: Action<{ readonly instance?: string }> = async (context, [word], flags) => {
  const { auditShow } = await import('../../store/sentence.ts');
  const journal = await openReaderOf(await whereRunIs(context, word));
  try {
    const entries = await wantedEntries(journal, word, flags.instance);
    if (!isForPeople(context)) {
      for (const entry of entries) await printRecord(context, 'entry', entry);
      return EXIT.closed;
    }
    let stream = '';
    for (const line of auditShow(entries)) {
      if (line.stream !== stream) context.stdout.write(`${stream === '' ? '' : '\n'}${line.stream}\n`);
      stream = line.stream;
      context.stdout.write(
        `${String(line.seq).padStart(4)}  ${formatTime(line.at)}  ${line.by}  ${line.hash}  ${line.text}\n`,
      );
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
};

async function wantedEntries(
  journal: JournalReader,
  word: string | undefined,
  instance: string | undefined,
): Promise<Entry[]> {
  if (word === undefined && instance === undefined) return everything(journal);
  const run = word === undefined ? [] : await journal.read(`run/${(await findRun(journal, word)).runId}`);
  const ledger = instance === undefined ? [] : await journal.read(`instance/${instance}`);
  if (run.length === 0 && ledger.length === 0) {
    const name = instance ?? '';
    const known = (await journal.streams('instance/')).map(({ stream }) => stream.slice('instance/'.length));
    throw new LifeboatError('audit.none', `nothing is on record about instance ${show(name, 80)}`, {
      hints: [
        ...mostSimilar(name, known),
        `on record: ${known.map((one) => show(one, 80)).join(', ') || 'none'}`,
      ],
      exitCode: EXIT.usage,
    });
  }
  return [...run, ...ledger];
}

async function everything(journal: JournalReader): Promise<Entry[]> {
  const heads = await journal.streams();
  const streams = await Promise.all(heads.map(({ stream }) => journal.read(stream)));
  return streams.flat();
}
