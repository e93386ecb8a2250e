import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { JournalReader, StoredEntry, StreamName } from '../../store/journal.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { isStreamName } from '../../store/new-entry.ts';
import {
  ENTRIES_A_PAGE,
  type EntriesPage,
  type EntriesWanted,
  entryRows,
  type OlderEntriesWanted,
} from '../../view/app/entries-page.ts';

/** The newest entries of the journal, two pages at most. Empty in a home without a journal. */
export function loadEntries(context: CommandContext, { stream }: EntriesWanted): Promise<EntriesPage> {
  return reading(context, async (journal) => {
    const size = await sizeOf(journal, stream);
    const first = Math.max(0, (Math.floor((size - 1) / ENTRIES_A_PAGE) - 1) * ENTRIES_A_PAGE);
    const page = await pageOf(journal, stream, first, size);
    return { ...page, anchor: await anchorOfHead(journal.log).catch(() => undefined) };
  });
}

/** One page of older entries, which never change. */
export function loadOlderEntries(
  context: CommandContext,
  { stream, page }: OlderEntriesWanted,
): Promise<EntriesPage> {
  const first = page * ENTRIES_A_PAGE;
  return reading(context, async (journal) => {
    const size = await sizeOf(journal, stream);
    return pageOf(journal, stream, first, Math.min(size, first + ENTRIES_A_PAGE));
  });
}

/** The board and the runs report a journal that does not match its signatures; a list of entries does not. */
async function reading(
  { env, configPath }: CommandContext,
  look: (journal: JournalReader) => Promise<EntriesPage>,
): Promise<EntriesPage> {
  const journal = await openJournalIfAny({ env, configPath });
  if (journal === undefined) return { rows: [], first: 0, size: 0 };
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}

async function sizeOf(journal: JournalReader, stream: string | undefined): Promise<number> {
  if (stream === undefined) return (await journal.log.head()).size;
  return isStreamName(stream) ? (await journal.head(stream)).seq : 0;
}

async function pageOf(
  journal: JournalReader,
  stream: string | undefined,
  first: number,
  end: number,
): Promise<EntriesPage> {
  const entries =
    stream === undefined
      ? await leaves(journal, first, end)
      : await ofStream(journal, stream as StreamName, first, end);
  return { rows: entryRows(entries).toReversed(), first, size: await sizeOf(journal, stream) };
}

async function leaves(journal: JournalReader, first: number, end: number): Promise<readonly StoredEntry[]> {
  const found: StoredEntry[] = [];
  if (first >= end) return found;
  for await (const entry of journal.log.stored(first)) {
    // Entries without a place in the log come last; an audit names them.
    if (entry.index < first) continue;
    if (entry.index >= end) break;
    found.push(entry);
  }
  return found;
}

async function ofStream(
  journal: JournalReader,
  stream: StreamName,
  first: number,
  end: number,
): Promise<readonly StoredEntry[]> {
  if (first >= end) return [];
  const entries = await journal.read(stream, first + 1);
  return entries
    .filter(({ seq }) => seq <= end)
    .map((entry) => ({ ...entry, body: JSON.stringify(entry.body) }));
}
