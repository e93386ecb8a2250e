import type { Entry, Head, JournalReader, StreamName } from '../store/journal.ts';
import { printableJson } from '../text.ts';

export interface ExportOptions {
  /** The signed checkpoint of the head that is exported, when there is a signing key. */
  readonly sign?: (head: Head) => string;
}

/**
 * A stream as JSON lines of printable ASCII, without line feeds: one entry a line, all its fields, in the order of the
 * chain's definition (`Row` in journal/chain.ts), then one line
 * `{"head":{"stream","seq","hash"},"note":"…"}` (`note` only when signed). An entry's hash is re-computed over the canonical
 * form (RFC 8785) of its `body`. The export stands on its own: `verifyExport`, or anybody's own verifier, needs
 * nothing else but the public key.
 */
export async function* auditExport(
  journal: JournalReader,
  stream: StreamName,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  const entries = await journal.read(stream);
  for (const entry of entries) yield entryLine(entry);
  const last = entries.at(-1);
  // The head of what was read, not of the journal: a live run may have gone on meanwhile.
  const head = last === undefined ? await journal.head(stream) : headOf(last);
  const note = options.sign?.(head);
  yield headLine(head, note);
}

/** One exported entry. */
export function entryLine({ stream, seq, at, by, type, body, prev, hash }: Entry): string {
  return printableJson({ stream, seq, at, by, type, body, prev, hash });
}

/** The last line of an export. */
export function headLine({ stream, seq, hash }: Head, note: string | undefined): string {
  return printableJson({ head: { stream, seq, hash }, ...(note === undefined ? {} : { note }) });
}

function headOf({ stream, seq, hash }: Entry): Head {
  return { stream, seq, hash };
}
