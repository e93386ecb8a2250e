import { silenceOf } from '../../../view/app/silence.ts';
import type { Fact, Fleet } from '../../../view/app/sources.ts';
import {
  ANSWER_WORDS,
  backupCell,
  cardCell,
  diskCell,
  diskRoom,
  followUpCell,
  isOpenTarget,
  keyCell,
  newestCell,
  recoveredCell,
  rpoCell,
  serviceCell,
  windowCell,
} from '../../../view/app/status-cells.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import type { Column } from '../../parts/table.ts';
import { type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

/** What the rows cannot say of themselves. */
export interface Asked {
  readonly answeredAt: ReadonlyMap<string, Date>;
  /** Since when those are asked that have not answered yet. */
  readonly askedAt?: ReadonlyMap<string, Date> | undefined;
  readonly isAsking: boolean;
  readonly now: Date;
}

/** How far the asking is. */
export function askedOf({ last, isAsking }: Fact<Fleet>, now: Date): Asked {
  const { answeredAt = new Map(), askedAt } = last?.value ?? {};
  return { answeredAt, askedAt, isAsking, now };
}

/** Percent of room below which a disk is worth a look. */
const LITTLE_ROOM = 10;

/** Cells of an age as it often is, and of one that is past its limit. */
const AGE = '1h 39m'.length;
const AGE_LATE = '23h LATE'.length;

/** The columns of the board. On a narrow screen the last ones go; the row of the cursor is told in full. */
export function boardColumns(asked: Asked): readonly Column<InstanceStatus>[] {
  return [
    { title: 'instance', cell: ({ name }) => [span(name)], least: 17 },
    { title: 'recoverable', cell: (status) => [answerSpan(status, asked)] },
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

const ANSWER_TOKENS = {
  yes: 'status.ok',
  no: 'status.bad',
  unknown: 'status.warn',
  empty: 'text.dim',
} as const;

/** Whether it could be recovered; `asking` before it has ever answered, unless the journal says no. */
export function answerSpan(status: InstanceStatus, asked: Asked): Span {
  const { name, role, recoverable } = status;
  const { answer } = recoverable;
  const isOpen = isOpenTarget({ name, role }, asked.answeredAt);
  if (asked.isAsking && !asked.answeredAt.has(name) && (answer === 'unknown' || isOpen))
    return span('asking', 'text.dim');
  // Nothing is green that was true a while ago.
  if (answer === 'yes' && silenceOf(status, asked, asked.now) !== undefined)
    return span('was yes', 'status.warn');
  return span(ANSWER_WORDS[answer], ANSWER_TOKENS[answer]);
}

/** Whether applications can work with it now; nothing is said before it has answered. */
export function serviceSpan(status: InstanceStatus, asked: Asked): Span {
  if (asked.isAsking && !asked.answeredAt.has(status.name)) return span('asking', 'text.dim');
  const word = serviceCell(status);
  if (word === 'yes' && silenceOf(status, asked, asked.now) !== undefined) return span('?', 'status.warn');
  return span(word, BAD_WORDS.has(word) ? 'status.bad' : 'text');
}

const BAD_WORDS: ReadonlySet<string> = new Set(['DOWN', 'NOT FOUND', 'NO']);

function newestSpan(status: InstanceStatus): Span {
  const { newestBackup, recoverable } = status;
  const isLate =
    (newestBackup?.meetsRpo === false || newestBackup?.aheadSeconds !== undefined) &&
    recoverable.answer !== 'empty';
  return span(shortly(newestCell(status)), isLate ? 'status.bad' : 'text');
}

function provenSpan(status: InstanceStatus): Span {
  const isLate = status.provenBackup?.meetsRpo === false;
  return span(shortly(backupCell(status, status.provenBackup)), isLate ? 'status.warn' : 'text');
}

/** Of what is past its limit the larger unit says enough; the row of the cursor is told in full. */
function shortly(age: string): string {
  return age.replace(/^(\d+[dhm]) \d+[hms] LATE$/u, '$1 LATE');
}

function keySpan(status: InstanceStatus): Span {
  const word = keyCell(status);
  return span(word, word === 'MISSING' ? 'status.bad' : 'text');
}

function cardSpan(status: InstanceStatus): Span {
  const word = cardCell(status);
  const isMissing = word === 'none' && status.recoverable.answer !== 'empty';
  return span(word, isMissing ? 'status.bad' : 'text');
}

/** The fill of the disk, loud where its parachute is near. */
export function diskSpan(status: InstanceStatus): Span {
  const room = diskRoom(status);
  const isOpen = typeof status.disk === 'object' && status.disk.isOpen;
  const token: Token = isOpen ? 'status.bad' : (room ?? 100) < LITTLE_ROOM ? 'status.warn' : 'text';
  return span(diskCell(status), token);
}

function followUpSpan(status: InstanceStatus): Span {
  return span(followUpCell(status), (status.followUps?.overdue ?? 0) > 0 ? 'status.warn' : 'text');
}

/** Why the backups could not be listed, in few characters; the row of the cursor says it in full. */
const FAILED_WORDS: Readonly<Record<string, string>> = {
  'credentials.refused': '401 login',
  'credentials.missing': 'no token',
  'service.forbidden': '403',
  'service.unreachable': 'no route',
  'service.timeout': 'silent',
  'answer.late': 'silent',
  'service.reset': 'cut off',
  'service.error': '5xx',
  'service.not-found': '404',
  'service.bad-answer': 'no JSON',
  'service.redirect': 'redirect',
};

/** Why the backups could not be listed: `401 login`, or `failed`. */
export function failedWord({ parts }: InstanceStatus): string {
  return FAILED_WORDS[parts.backups.code ?? ''] ?? 'failed';
}

const LONGEST_FAILED = Math.max(...Object.values(FAILED_WORDS).map(({ length }) => length));

/** How old the oldest answer is, or why there is none. */
function askedSpan(status: InstanceStatus, asked: Asked): Span {
  const { name, parts } = status;
  const { answeredAt, isAsking, now } = asked;
  const at = answeredAt.get(name);
  if (at === undefined) return span(isAsking ? 'asking' : 'never', 'text.dim');
  if (parts.backups.state === 'failed') return span(failedWord(status), 'status.warn');
  const age = briefly((now.getTime() - at.getTime()) / 1000);
  return silenceOf(status, asked, now) === undefined ? span(age, 'text.dim') : span(age, 'status.warn');
}
