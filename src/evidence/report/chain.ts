import type { Entry } from '../../journal/journal.ts';
import { sentenceOf } from '../../journal/sentence.ts';
import { code, plain, table } from '../markdown.ts';
import { time } from './layout.ts';

/** What a record says about itself. */
export interface RecordProof {
  readonly generatedAt: Date;
  /** The signed checkpoint of the run's last entry. */
  readonly note?: string;
  /** Files that belong to the evidence, such as the exported journal, with their SHA-256 in hex. */
  readonly files?: readonly { readonly name: string; readonly sha256: string }[];
}

/** Every entry as a sentence. */
export function timeline(entries: readonly Entry[]): string {
  return table(
    ['Time', 'No', 'Who', 'What'],
    entries.map((entry) => [
      time(entry.at),
      String(entry.seq),
      plain(entry.by, 60),
      plain(sentenceOf(entry).text),
    ]),
  );
}

/** The chain's head, its signature, the files, and how to verify all of it. */
export function evidence(entries: readonly Entry[], options: RecordProof): string {
  const last = entries.at(-1);
  const files = options.files ?? [];
  const head =
    last === undefined
      ? 'There are no entries.'
      : `${last.seq} entries, chain head ${code(last.hash)} (write its first digits into the ticket: they pin this record).`;
  const parts = [
    head,
    files.length === 0
      ? ''
      : table(
          ['File', 'SHA-256'],
          files.map(({ name, sha256 }) => [plain(name), code(sha256)]),
        ),
    options.note === undefined ? 'The head is not signed.' : `Signed head:\n\n${fenced(options.note)}`,
    `To verify: ${code(`lifeboat audit verify ${last?.stream.replace(/^run\//u, '') ?? ''}`.trim())}. Each entry's hash is the SHA-256 over the hash before it, a line feed and the canonical JSON (RFC 8785) of [stream, seq, at, by, type, body].`,
    `Written ${options.generatedAt.toISOString()}.`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function fenced(note: string): string {
  return note
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
