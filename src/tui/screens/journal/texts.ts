import { counted } from '../../../base/format.ts';
import { splitAt } from '../../../plain/width.ts';
import { bodyRows, type EntryRow } from '../../../view/app/entries-page.ts';
import type { AuditFacts, AuditTrust, Fact, Facts } from '../../../view/app/sources.ts';
import { type Layout, wholeBody } from '../../bands.ts';
import { padLine, ruleLine, wrapLine } from '../../line.ts';
import type { Around, BoundKey } from '../../live-screen.ts';
import { footerKey } from '../../live-screen.ts';
import { hintLines } from '../../parts/facts.ts';
import {
  holdsText,
  type PathField,
  type PathIntent,
  pathField,
  pathIn,
  pathKeys,
  pathLines,
  whyNotFile,
} from '../../parts/path-field.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

const LABEL_CELLS = 8;

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

/** Text of a megabyte is split into pieces of this length before it is measured. */
const PIECE = 1_000;

/** A text in rows of at most `width` cells that keeps every blank, because it is data. */
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

/** The findings of an audit, or that it is running, or why it failed. */
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
  // Skip what the verdict says already.
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

export type TrustIntent = 'take' | PathIntent;

/** A field for what the journal is verified against: a file with public keys, or an anchor. */
export function trustField(given: readonly string[]): PathField {
  return pathField({ source: 'publicKeyFile', orText: 'lifeboat:' }, given);
}

/** The keys of the field, without the one that closes it. */
export function trustKeys(path: PathField, facts: Facts): readonly BoundKey<TrustIntent>[] {
  return [{ ...TAKE, disabled: whyNotFile(path, facts) }, ...pathKeys(path)];
}

const TAKE: BoundKey<TrustIntent> = footerKey(
  'enter',
  'take',
  'verify',
  'verify the log against it, and against what was given before',
);

export function withTrust(trust: AuditTrust, path: PathField): AuditTrust {
  return holdsText(path) ? { ...trust, anchor: pathIn(path) } : { ...trust, publicKey: pathIn(path) };
}

export function trustLayout(path: PathField, { facts, size }: Around, look: Look): Layout {
  const { columns, rows } = size;
  const words = {
    label: 'file or anchor: ',
    empty:
      'a file with the public key of the installation that signs (`lifeboat audit key` prints it there; keep it elsewhere), ' +
      'or the anchor from a ticket: lifeboat:...',
    ready: holdsText(path)
      ? 'it is an anchor: Enter verifies the log against it'
      : 'it holds a public key: Enter verifies the log against it',
  };
  return wholeBody(pathLines(path, facts, words, [columns, rows], look), size);
}

/** What the log is verified against besides its own checkpoints; empty if there is nothing. */
function trustLines({ publicKey, anchor }: AuditTrust, width: number): readonly Line[] {
  const row = (label: string, value: string | undefined): readonly Line[] =>
    value === undefined ? [] : wrapLine([span(`${label} `, 'text.dim'), span(value)], width, 2);
  return [...row('against the public key in', publicKey), ...row('against the anchor', anchor)];
}
