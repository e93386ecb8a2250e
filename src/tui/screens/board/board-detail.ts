import { formatSpan } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import type { Check } from '../../../plans/evaluation-schema.ts';
import { wantsPassphrase } from '../../../view/app/app-port.ts';
import { failedWord, LONGEST_FAILED } from '../../../view/app/fleet-row.ts';
import type { Fact, Fleet } from '../../../view/app/sources.ts';
import {
  absenceWords,
  backupCell,
  cardCell,
  checksAgainst,
  checksBeside,
  diskCell,
  diskRoom,
  diskWords,
  followUpCell,
  isOpenTarget,
  keyCell,
  NOT_FOUND_NEXT,
  newestCell,
  notesOf,
  openerWords,
  recoveredCell,
  rpoCell,
  seenWords,
  serviceCell,
  silenceOf,
  silenceWords,
  VERDICT_WORDS,
  waiverWords,
  windowCell,
} from '../../../view/app/status-cells.ts';
import type { InstanceStatus, Verdict } from '../../../view/fleet/status-schema.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import { lineWidth, ruleLine, wrapLine } from '../../line.ts';
import type { Column } from '../../parts/table.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

/** Everything about one instance: its verdict, every check against it, notes, and each fact with its age. */
export function detailLines(
  status: InstanceStatus,
  asked: Asked,
  width: number,
  look: Look,
): readonly Line[] {
  return [
    ruleLine(status.name, width, look, 'accent'),
    ...verdictLines(status, asked, width, look),
    ...notesOf(status).flatMap((note) => signed(span(look.glyphs.warn, 'status.warn'), note, width)),
    BLANK,
    ...factsBelow(status, asked, width),
  ];
}

export function factsBelow(status: InstanceStatus, asked: Asked, width: number): readonly Line[] {
  return factLines(factsOf(status, asked), width);
}

/** Its verdict, with each check that is not green. */
export function verdictLines(
  status: InstanceStatus,
  asked: Asked,
  width: number,
  look: Look,
): readonly Line[] {
  const { glyphs } = look;
  if (status.evaluation.verdict === 'empty')
    return signed(
      span(glyphs.bullet, 'text.dim'),
      'empty: a target that holds nothing of its own yet',
      width,
    );
  return [
    ...absenceLines(status, asked, width, look),
    ...silentLines(status, asked, width, look),
    ...evaluationLines(status, asked, width, look),
    // Skip the reason that it does not answer, which is already shown above.
    ...(absenceWords(status, asked.now) === undefined
      ? serviceLines(status.inService, isAwaited(status, asked), width, look)
      : []),
  ];
}

function isAwaited({ name }: InstanceStatus, { isAsking, answeredAt }: Asked): boolean {
  return isAsking && !answeredAt.has(name);
}

function absenceLines(status: InstanceStatus, { now }: Asked, width: number, look: Look): readonly Line[] {
  const words = absenceWords(status, now);
  if (words === undefined) return [];
  const isSource = status.role === 'source' && status.elsewhere.answer !== 'no';
  return [
    ...signed(span(look.glyphs.failed, 'status.bad'), words, width),
    ...(status.notFound === undefined
      ? []
      : signed(span(look.glyphs.warn, 'status.warn'), NOT_FOUND_NEXT, width)),
    ...(isSource
      ? signed(
          span(look.glyphs.bullet, 'text.dim'),
          `${status.notFound === undefined ? '' : 'if it is gone, '}s begins a recovery elsewhere`,
          width,
        )
      : []),
  ];
}

function silentLines(status: InstanceStatus, asked: Asked, width: number, look: Look): readonly Line[] {
  const silence = silenceOf(status, asked, asked.now);
  return silence === undefined
    ? []
    : signed(span(look.glyphs.warn, 'status.warn'), silenceWords(silence), width);
}

function evaluationLines(status: InstanceStatus, asked: Asked, width: number, look: Look): readonly Line[] {
  const { glyphs } = look;
  const { verdict, reason } = status.evaluation;
  const opener = openerWords(status);
  const beside = checksBeside(status).flatMap((check) =>
    signed(span(glyphs.warn, 'status.warn'), `${check.id}: ${check.reason}; ${waiverWords(check)}`, width),
  );
  if (verdict === 'proven' || verdict === 'ready') {
    const from = opener === undefined ? '' : `; a recovery would take ${opener}`;
    const said = `${VERDICT_WORDS[verdict]}: ${reason}${from}`;
    const isSilent = silenceOf(status, asked, asked.now) !== undefined;
    const sign = isSilent ? span(glyphs.bullet, 'text.dim') : span(glyphs.done, 'status.ok');
    return [...signed(sign, isSilent ? `then it was ${said}` : said, width), ...beside];
  }
  const isWaiting = isAwaited(status, asked);
  // A part that was not asked yet is not a finding.
  const against = checksAgainst(status).filter(({ code }) => !(isWaiting && code === 'unasked'));
  const waiting = isWaiting
    ? signed(
        span(glyphs.ahead, 'text.dim'),
        `waiting for its answers; ${beforeWords(status, asked.now)}below is what the journal has`,
        width,
      )
    : [];
  const instead =
    opener === undefined
      ? []
      : signed(span(glyphs.bullet, 'text.dim'), `a recovery would take ${opener}`, width);
  const lines = against.flatMap((check) => checkLines(check, width, look));
  return [...waiting, ...lines, ...elsewhereLines(status, width, look), ...instead, ...beside];
}

function beforeWords({ lastEvaluation }: InstanceStatus, now: Date): string {
  if (lastEvaluation === undefined) return '';
  const { verdict, at } = lastEvaluation;
  return `it ${wasWords(verdict)} ${briefly((now.getTime() - msOf(at)) / 1000)} ago; `;
}

/** A lost instance cannot be asked, but may still be recoverable. */
function elsewhereLines(status: InstanceStatus, width: number, look: Look): readonly Line[] {
  const { elsewhere, down, notFound } = status;
  if (down === undefined && notFound === undefined) return [];
  if (elsewhere.answer === 'yes')
    return signed(span(look.glyphs.done, 'status.ok'), 'it could be recovered elsewhere', width);
  return elsewhere.reasons.flatMap(({ text }) =>
    signed(span(look.glyphs.warn, 'status.warn'), `elsewhere: ${text}`, width),
  );
}

function checkLines({ state, code, reason }: Check, width: number, look: Look): readonly Line[] {
  const next = wantsPassphrase(code) ? '; K, then p, tries again' : '';
  const sign =
    state === 'red'
      ? span(`${look.glyphs.failed} NOT READY`, 'status.bad')
      : span('? UNKNOWN', 'status.warn');
  return wrapLine([sign, span(`: ${reason}${next}`)], width, 2);
}

/** Why applications cannot work with it. A part that was not asked yet is no reason. */
function serviceLines({ reasons }: Verdict, isWaiting: boolean, width: number, look: Look): readonly Line[] {
  return reasons
    .filter(({ answer, code }) => answer === 'no' || !(isWaiting || code.startsWith('unasked.')))
    .flatMap(({ answer, text }) => {
      const sign = answer === 'no' ? span(look.glyphs.failed, 'status.bad') : span('?', 'status.warn');
      return wrapLine([sign, span(` in service: ${text}`)], width, 2);
    });
}

function signed(sign: Span, text: string, width: number): readonly Line[] {
  return wrapLine([sign, span(` ${text}`)], width, 2);
}

type LabelledFact = readonly [label: string, value: Span];

function factsOf(status: InstanceStatus, asked: Asked): readonly LabelledFact[] {
  const { role, state, rto, rpo, newestBackup, provenBackup, key, recovered, parts, window } = status;
  const { answeredAt, now } = asked;
  const at = answeredAt.get(status.name);
  const plain = (label: string, value: string): LabelledFact => [label, span(value)];
  const limit = (seconds: number | undefined) => (seconds === undefined ? 'none' : formatSpan(seconds));
  const proven = provenBackup === undefined ? '' : `, proven ${briefly(provenBackup.provenAgeSeconds)} ago`;
  const reach =
    typeof window === 'object' && window.ageSeconds !== undefined
      ? `, newest point ${briefly(window.ageSeconds)} old`
      : '';
  return [
    ['verdict', verdictSpan(status, asked)],
    ['in service', serviceSpan(status, asked)],
    plain('state', state ?? whyNot(parts.overview)),
    plain('role', role),
    plain('RTO', limit(rto)),
    plain('RPO', limit(rpo)),
    plain('newest backup', seenWords(status) ?? `${backupCell(status, newestBackup)}${idOf(newestBackup)}`),
    plain('proven backup', `${backupCell(status, provenBackup)}${idOf(provenBackup)}${proven}`),
    plain('key', `${keyCell(status)} ${key.possible.map(({ fingerprint }) => fingerprint).join(' ')}`.trim()),
    plain('recovery card', aged(cardCell(status))),
    plain('point in time', `${windowCell(status)}${reach}`),
    ['disk', span(diskWords(status), diskSpan(status).token)],
    plain(
      'last recovered',
      `${aged(recoveredCell(status))}${recovered === undefined ? '' : ` (${recovered.mode})`}`,
    ),
    plain('follow-ups', followUpCell(status)),
    plain('in doubt', status.inDoubt === undefined ? '?' : String(status.inDoubt)),
    plain(
      'asked',
      at === undefined ? 'not answered yet' : `${briefly((now.getTime() - at.getTime()) / 1000)} ago`,
    ),
  ];
}

function idOf(backup: { readonly id: number } | undefined): string {
  return backup === undefined ? '' : ` (backup ${backup.id})`;
}

function aged(cell: string): string {
  return /^\d/u.test(cell) ? `${cell} ago` : cell;
}

function whyNot({ state }: { readonly state: string }): string {
  return state === 'failed' ? 'could not be read' : '?';
}

/** Facts in a row; a fact is broken only if it is longer than a row. */
function factLines(facts: readonly LabelledFact[], width: number): readonly Line[] {
  const rows: Span[][] = [];
  for (const [label, value] of facts) {
    const piece = [span(`${label} `, 'text.dim'), value];
    const row = rows.at(-1);
    if (row !== undefined && lineWidth(row) + 3 + lineWidth(piece) <= width) row.push(span('   '), ...piece);
    else rows.push(piece);
  }
  return rows.flatMap((row) => (lineWidth(row) <= width ? [row] : wrapLine(row, width, 2)));
}

/** Progress of the survey, which a row's own status does not contain. */
interface Asked {
  readonly answeredAt: ReadonlyMap<string, Date>;
  /** When each instance without an answer yet was asked. */
  readonly askedAt?: ReadonlyMap<string, Date> | undefined;
  readonly isAsking: boolean;
  readonly now: Date;
}

export function askedOf({ last, isAsking }: Fact<Fleet>, now: Date): Asked {
  const { answeredAt = new Map(), askedAt } = last?.value ?? {};
  return { answeredAt, askedAt, isAsking, now };
}

const LITTLE_ROOM = 10;

/** Cells for a common age, and for one that is past its limit. */
const AGE = '1h 39m'.length;
const AGE_LATE = '23h LATE'.length;

/** A narrow screen drops the last columns; the detail of the selected row has all facts. */
export function boardColumns(asked: Asked): readonly Column<InstanceStatus>[] {
  return [
    { title: 'instance', cell: ({ name }) => [span(name)], least: 17 },
    { title: 'verdict', cell: (status) => [verdictSpan(status, asked)], kept: 'was NOT READY'.length },
    { title: 'service', cell: (status) => [serviceSpan(status, asked)], kept: 'NOT FOUND'.length },
    { title: 'backup', cell: (status) => [newestSpan(status)], kept: AGE_LATE },
    { title: 'proven', cell: (status) => [provenSpan(status)], kept: AGE_LATE },
    { title: 'RPO', cell: (status) => [span(rpoCell(status))], drop: 3 },
    { title: 'key', cell: (status) => [keySpan(status)], drop: 1, kept: 'proven'.length },
    { title: 'card', cell: (status) => [cardSpan(status)], drop: 4, kept: AGE },
    { title: 'PITR', cell: (status) => [span(windowCell(status))], drop: 5, kept: AGE },
    { title: 'disk', cell: (status) => [diskSpan(status)], drop: 6, kept: '100/80 %'.length },
    { title: 'recovered', cell: (status) => [span(recoveredCell(status))], drop: 8 },
    { title: 'follow-ups', cell: (status) => [followUpSpan(status)], drop: 7 },
    { title: 'asked', cell: (status) => [askedSpan(status, asked)], drop: 2, kept: LONGEST_FAILED },
  ];
}

const VERDICT_TOKENS = {
  proven: 'status.ok',
  ready: 'status.ok',
  'not-ready': 'status.bad',
  unknown: 'status.warn',
  empty: 'text.dim',
} as const;

/** Before the first answer: the last verdict, or `asking`, unless the journal alone says not ready. */
function verdictSpan(status: InstanceStatus, asked: Asked): Span {
  const { name, role, evaluation, lastEvaluation } = status;
  const { verdict } = evaluation;
  const isOpen = isOpenTarget({ name, role }, asked.answeredAt);
  if (asked.isAsking && !asked.answeredAt.has(name) && (verdict === 'unknown' || isOpen))
    return span(lastEvaluation === undefined ? 'asking' : wasWords(lastEvaluation.verdict), 'text.dim');
  const isGood = verdict === 'proven' || verdict === 'ready';
  // An old answer is never shown in green.
  if (isGood && silenceOf(status, asked, asked.now) !== undefined)
    return span(wasWords(verdict), 'status.warn');
  return span(VERDICT_WORDS[verdict], VERDICT_TOKENS[verdict]);
}

function wasWords(verdict: keyof typeof VERDICT_WORDS): string {
  return `was ${VERDICT_WORDS[verdict]}`;
}

/** Whether applications can use it now; empty until its first answer. */
function serviceSpan(status: InstanceStatus, asked: Asked): Span {
  if (asked.isAsking && !asked.answeredAt.has(status.name)) return span('asking', 'text.dim');
  const word = serviceCell(status);
  if (word === 'yes' && silenceOf(status, asked, asked.now) !== undefined) return span('?', 'status.warn');
  return span(word, BAD_WORDS.has(word) ? 'status.bad' : 'text');
}

const BAD_WORDS: ReadonlySet<string> = new Set(['DOWN', 'NOT FOUND', 'NO']);

function newestSpan(status: InstanceStatus): Span {
  const { newestBackup, evaluation } = status;
  const isLate =
    (newestBackup?.meetsRpo === false || newestBackup?.aheadSeconds !== undefined) &&
    evaluation.verdict !== 'empty';
  return span(shortly(newestCell(status)), isLate ? 'status.bad' : 'text');
}

function provenSpan(status: InstanceStatus): Span {
  const isLate = status.provenBackup?.meetsRpo === false;
  return span(shortly(backupCell(status, status.provenBackup)), isLate ? 'status.warn' : 'text');
}

/** An age past its limit is shortened to its larger unit; the detail has the rest. */
function shortly(age: string): string {
  return age.replace(/^(\d+[dhm]) \d+[hms] LATE$/u, '$1 LATE');
}

function keySpan(status: InstanceStatus): Span {
  const word = keyCell(status);
  return span(word, word === 'MISSING' ? 'status.bad' : 'text');
}

function cardSpan(status: InstanceStatus): Span {
  const word = cardCell(status);
  const isMissing = word === 'none' && status.evaluation.verdict !== 'empty';
  return span(word, isMissing ? 'status.bad' : 'text');
}

function diskSpan(status: InstanceStatus): Span {
  const room = diskRoom(status);
  const isOpen = typeof status.disk === 'object' && status.disk.isOpen;
  const token: Token = isOpen ? 'status.bad' : (room ?? 100) < LITTLE_ROOM ? 'status.warn' : 'text';
  return span(diskCell(status), token);
}

function followUpSpan(status: InstanceStatus): Span {
  return span(followUpCell(status), (status.followUps?.overdue ?? 0) > 0 ? 'status.warn' : 'text');
}

function askedSpan(status: InstanceStatus, asked: Asked): Span {
  const { name, parts } = status;
  const { answeredAt, isAsking, now } = asked;
  const at = answeredAt.get(name);
  if (at === undefined) return span(isAsking ? 'asking' : 'never', 'text.dim');
  if (parts.backups.state === 'failed') return span(failedWord(status), 'status.warn');
  const age = briefly((now.getTime() - at.getTime()) / 1000);
  return silenceOf(status, asked, now) === undefined ? span(age, 'text.dim') : span(age, 'status.warn');
}
