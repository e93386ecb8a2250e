import { formatSpan } from '../../../base/format.ts';
import { wantsPassphrase } from '../../../view/app/locked-vault.ts';
import { silenceOf, silenceWords } from '../../../view/app/silence.ts';
import {
  absenceWords,
  backupCell,
  cardCell,
  diskWords,
  followUpCell,
  keyCell,
  NOT_FOUND_NEXT,
  notesOf,
  objectivesCell,
  openerWords,
  recoveredCell,
  seenWords,
  wayOf,
  windowCell,
} from '../../../view/app/status-cells.ts';
import type { InstanceStatus, Reason, Verdict } from '../../../view/fleet/status-schema.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import { lineWidth, ruleLine, wrapLine } from '../../line.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../span.ts';
import { type Asked, answerSpan, diskSpan, serviceSpan } from './board-columns.ts';

/** Everything about one instance: why it could not be recovered, what to mind, and each fact with its age. */
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

/** What is known of it, each fact with its label. */
export function factsBelow(status: InstanceStatus, asked: Asked, width: number): readonly Line[] {
  return factLines(factsOf(status, asked), width);
}

/** Whether it could be recovered now, with each reason why not. */
export function verdictLines(
  status: InstanceStatus,
  asked: Asked,
  width: number,
  look: Look,
): readonly Line[] {
  const { glyphs } = look;
  const { recoverable } = status;
  const isWaiting = isAwaited(status, asked);
  if (recoverable.answer === 'empty')
    return signed(span(glyphs.bullet, 'text.dim'), 'a target that holds nothing of its own yet', width);
  return [
    ...absenceLines(status, asked, width, look),
    ...silentLines(status, asked, width, look),
    ...recoverableLines(status, asked, width, look),
    ...beside('within RPO', status.objectives, isWaiting, width, look),
    // That it does not answer stands above.
    ...(absenceWords(status, asked.now) === undefined
      ? beside('in service', status.inService, isWaiting, width, look)
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

function recoverableLines(status: InstanceStatus, asked: Asked, width: number, look: Look): readonly Line[] {
  const { glyphs } = look;
  const { recoverable } = status;
  const isWaiting = isAwaited(status, asked);
  const opener = openerWords(status);
  if (recoverable.answer === 'yes') {
    const isThere = status.down === undefined && status.notFound === undefined;
    const where = isThere ? 'in place and elsewhere' : 'elsewhere';
    const from = opener === undefined ? '' : `, from ${opener}`;
    if (silenceOf(status, asked, asked.now) !== undefined)
      return signed(span(glyphs.bullet, 'text.dim'), `then it could be recovered, ${where}${from}`, width);
    return signed(span(glyphs.done, 'status.ok'), `it could be recovered now, ${where}${from}`, width);
  }
  // What was not asked yet is no finding.
  const reasons = recoverable.reasons.filter(({ code }) => !(isWaiting && code.startsWith('unasked.')));
  const waiting = isWaiting
    ? signed(span(glyphs.ahead, 'text.dim'), 'waiting for its answers; below is what the journal has', width)
    : [];
  const instead =
    opener === undefined
      ? []
      : signed(span(glyphs.bullet, 'text.dim'), `a recovery would take ${opener}`, width);
  return [...waiting, ...reasons.flatMap((reason) => reasonLines(status, reason, width, look)), ...instead];
}

/** What else is asked of it, where the answer is not yes. What was not asked yet is no finding. */
function beside(
  what: string,
  verdict: Verdict | undefined,
  isWaiting: boolean,
  width: number,
  look: Look,
): readonly Line[] {
  const reasons = (verdict?.reasons ?? []).filter(
    ({ answer, code }) => answer === 'no' || !(isWaiting || code.startsWith('unasked.')),
  );
  return reasons.flatMap(({ answer, text }) => {
    const sign =
      answer === 'no' ? span(`${look.glyphs.failed} NO`, 'status.bad') : span('? unknown', 'status.warn');
    return wrapLine([sign, span(` ${what}: ${text}`)], width, 2);
  });
}

function reasonLines(status: InstanceStatus, reason: Reason, width: number, look: Look): readonly Line[] {
  const way = wayOf(status, reason);
  const sign =
    reason.answer === 'no'
      ? span(`${look.glyphs.failed} NO`, 'status.bad')
      : span('? unknown', 'status.warn');
  const where = way === '' ? '' : ` ${way}`;
  const next = wantsPassphrase(reason.code) ? '; K, then p, tries again' : '';
  return wrapLine([sign, span(`${where}: ${reason.text}${next}`)], width, 2);
}

function signed(sign: Span, text: string, width: number): readonly Line[] {
  return wrapLine([sign, span(` ${text}`)], width, 2);
}

type Fact = readonly [label: string, value: Span];

function factsOf(status: InstanceStatus, asked: Asked): readonly Fact[] {
  const { role, state, rto, rpo, newestBackup, provenBackup, key, recovered, parts, window } = status;
  const { answeredAt, now } = asked;
  const at = answeredAt.get(status.name);
  const plain = (label: string, value: string): Fact => [label, span(value)];
  const limit = (seconds: number | undefined) => (seconds === undefined ? 'none' : formatSpan(seconds));
  const proven = provenBackup === undefined ? '' : `, proven ${briefly(provenBackup.provenAgeSeconds)} ago`;
  const reach =
    typeof window === 'object' && window.ageSeconds !== undefined
      ? `, newest point ${briefly(window.ageSeconds)} old`
      : '';
  return [
    ['recoverable', answerSpan(status, asked)],
    plain('within RPO', objectivesCell(status)),
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

/** Facts one behind the other, none broken before its end if it fits into a row. */
function factLines(facts: readonly Fact[], width: number): readonly Line[] {
  const rows: Span[][] = [];
  for (const [label, value] of facts) {
    const piece = [span(`${label} `, 'text.dim'), value];
    const row = rows.at(-1);
    if (row !== undefined && lineWidth(row) + 3 + lineWidth(piece) <= width) row.push(span('   '), ...piece);
    else rows.push(piece);
  }
  return rows.flatMap((row) => (lineWidth(row) <= width ? [row] : wrapLine(row, width, 2)));
}
