import { counted } from '../../base/format.ts';
import type { Report } from '../model/model.ts';
import type { Line } from '../model/model-rows.ts';
import {
  BLANK,
  type Block,
  blanks,
  detail,
  paragraph,
  type Section,
  type Text,
  tableOf,
  time,
} from './document.ts';

/** The journal itself, how it is proven, and who signs. */
export function recordSections(report: Report): Section[] {
  const { entries, ledger, signOff } = report;
  return [
    {
      title: 'Timeline (UTC)',
      isDetail: true,
      blocks: lines('Every entry of the journal of the run', entries),
    },
    ...detail('Written to the ledger of the instance', lines('What the run wrote to the ledger', ledger)),
    { title: 'Evidence', isDetail: true, blocks: evidenceBlocks(report) },
    {
      title: 'Sign-off',
      blocks: [
        ...tableOf(
          'To be filled in by people',
          ['Role', 'Name', 'Date', 'Statement', 'Signature'],
          signOff.map(({ role, statement }) => [role, BLANK, BLANK, statement, BLANK]),
        ),
        ...blanks(report, 'signOff'),
      ],
    },
  ];
}

function lines(caption: string, entries: readonly Line[]): Block[] {
  const rows = entries.map(({ at, seq, by, text }) => [time(at), String(seq), by, text]);
  return tableOf(caption, ['Time', 'No', 'Who', 'What'], rows);
}

/** The last entry, the signed head of the log, the files, and how to verify them. */
function evidenceBlocks({ run, evidence }: Report): Block[] {
  const { head, anchor, signedHead, files, bundle, transcript, verify } = evidence;
  return [
    paragraph(headText(run.entries, head)),
    ...(anchor === undefined ? [] : [paragraph(['Anchor for the ticket: ', { code: anchor }])]),
    ...(files.length === 0
      ? [
          paragraph([
            'The files of the evidence, each with its SHA-256, are in the bundle: ',
            { code: bundle },
            '.',
          ]),
        ]
      : tableOf(
          'Files of the evidence',
          ['File', 'SHA-256'],
          files.map(({ name, sha256 }) => [name, { code: sha256 }]),
        )),
    paragraph(
      transcript === undefined
        ? 'No transcript of requests was kept.'
        : [
            `The transcript of requests has ${counted(transcript.lines, 'line')}, ` +
              `${transcript.bytes} bytes, SHA-256 `,
            { code: transcript.sha256 },
            '.',
          ],
    ),
    signedHead === undefined
      ? paragraph('The log has no signed head.')
      : { kind: 'lines', caption: 'Signed head of the log', lines: signedHead },
    paragraph([
      'To verify: ',
      { code: verify },
      '. The hash of an entry is that of its leaf in the Merkle tree over all entries (RFC 6962): ' +
        'the SHA-256 over a zero byte and its canonical JSON (RFC 8785, in ASCII) of ' +
        '{at, body, by, seq, stream, type}.',
    ]),
  ];
}

function headText(count: number, head: string | undefined): Text {
  if (head === undefined) return 'There are no entries.';
  return [`${counted(count, 'entry', 'entries')}, the last of them with the leaf hash `, { code: head }, '.'];
}
