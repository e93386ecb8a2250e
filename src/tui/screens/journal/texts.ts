import { counted } from '../../../base/format.ts';
import { splitAt } from '../../../plain/width.ts';
import { bodyRows, type EntryRow } from '../../../view/app/entries-page.ts';
import type { AuditFacts, AuditTrust, Fact } from '../../../view/app/sources.ts';
import { padLine, ruleLine, wrapLine } from '../../line.ts';
import { hintLines } from '../../parts/facts.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import type { Token } from '../../theme.ts';
import { trustLines } from './trust.ts';

const LABEL_CELLS = 8;

/** One entry in full: what names it, its sentence, its body. */
export function entryLines(row: EntryRow, width: number, look: Look): readonly Line[] {
  const label = (name: string, value: string) =>
    wrapLine([span(value)], Math.max(1, width - LABEL_CELLS)).map(
      (line, at): Line => [...padLine(at === 0 ? [span(name, 'text.dim')] : [], LABEL_CELLS), ...line],
    );
  return [
    ...wrapLine([span(row.sentence, 'text.strong')], width),
    BLANK,
    ...label('leaf', String(row.index)),
    ...label('stream', `${row.stream}, entry ${row.seq}`),
    ...label('at', `${row.at} UTC`),
    ...label('by', row.by),
    ...label('type', row.type),
    ...label('hash', row.hash),
    BLANK,
    ruleLine('body', width, look),
    ...bodyRows(row.body).flatMap((text) => wholeRows(text, width)),
  ];
}

/** So much of a row is measured at once; a text of a megabyte is cut into such pieces first. */
const PIECE = 1_000;

/** A text in rows of at most `width` cells with every blank that it has: it is data. */
function wholeRows(text: string, width: number): Line[] {
  if (text === '') return [BLANK];
  const rows: Line[] = [];
  const characters = Array.from(text);
  for (let from = 0; from < characters.length; from += PIECE) {
    let rest = span(characters.slice(from, from + PIECE).join('')).text;
    while (rest !== '') {
      const [head, tail] = splitAt(rest, width, 1);
      rows.push([{ text: head, token: 'text.code' }]);
      rest = tail;
    }
  }
  return rows;
}

const VERDICTS: Readonly<Record<AuditFacts['verdict'], { readonly word: string; readonly token: Token }>> = {
  intact: { word: 'INTACT', token: 'status.ok' },
  consistent: { word: 'CONSISTENT', token: 'status.warn' },
  'not-intact': { word: 'NOT INTACT', token: 'status.bad' },
};

const BY_HAND = 'try it on the command line: lifeboat audit verify';
const OPENING = 'o asks for the passphrase of the vault file, and verifies again';
const PINNING =
  'p verifies it against a public key from elsewhere (--public-key on the command line), or an anchor';

const SEVERITIES = { problem: 'status.bad', limit: 'status.warn', note: 'text' } as const;

/** What an audit of the journal found, or that it is under way, or why it could not be made. */
export function auditLines(
  { part, last, isAsking }: Fact<AuditFacts>,
  trust: AuditTrust,
  width: number,
): readonly Line[] {
  if (part.state === 'failed')
    return [
      ...wrapLine([span('the log was not verified: ', 'status.bad'), span(part.why)], width, 2),
      ...hintLines(part.hints ?? [BY_HAND], width, 0),
      ...trustLines(trust, width),
    ];
  if (last === undefined || isAsking)
    return wrapLine([span('verifying every entry, the tree, the signed heads and the checkpoints')], width);
  const { verdict, words, exitCode, entries, findings, isLocked = false } = last.value;
  const { word, token } = VERDICTS[verdict];
  // The verdict names its limits already.
  const more = findings.filter(({ text }) => !words.includes(text));
  return [
    ...wrapLine([span(word, token), span(`  ${counted(entries, 'entry', 'entries')}`)], width, 2),
    BLANK,
    ...wrapLine([span(words, 'text.strong')], width),
    BLANK,
    ...more.flatMap(({ severity, text }) =>
      wrapLine([span(`${severity}: `, SEVERITIES[severity]), span(text)], width, 2),
    ),
    ...(more.length === 0 ? [] : [BLANK]),
    ...trustLines(trust, width),
    ...(isLocked ? wrapLine([span(OPENING)], width, 2) : []),
    ...(verdict === 'consistent' ? wrapLine([span(PINNING)], width, 2) : []),
    ...wrapLine(
      [span(`\`lifeboat audit verify\` ends with exit code ${exitCode} for this`, 'text.dim')],
      width,
    ),
  ];
}
