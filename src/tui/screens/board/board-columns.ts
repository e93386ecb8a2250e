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
  windowCell,
} from '../../../view/app/status-cells.ts';
import type { InstanceStatus } from '../../../view/fleet/fleet-facts.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import type { Column } from '../../parts/table.ts';
import { type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

/** What the rows cannot say of themselves. */
export interface Asked {
  readonly answeredAt: ReadonlyMap<string, Date>;
  readonly isAsking: boolean;
  readonly now: Date;
}

/** Percent of room below which a disk is worth a look. */
const LITTLE_ROOM = 10;

/** The columns of the board. On a narrow screen the last ones go; the row of the cursor is told in full. */
export function boardColumns(asked: Asked): readonly Column<InstanceStatus>[] {
  return [
    { title: 'instance', cell: ({ name }) => [span(name)], least: 10 },
    { title: 'recoverable', cell: (status) => [answerSpan(status, asked)] },
    { title: 'backup', cell: (status) => [newestSpan(status)] },
    { title: 'proven', cell: (status) => [provenSpan(status)] },
    { title: 'RPO', cell: (status) => [span(rpoCell(status))], drop: 2 },
    { title: 'key', cell: (status) => [keySpan(status)], drop: 1 },
    { title: 'card', cell: (status) => [cardSpan(status)], drop: 3 },
    { title: 'PITR', cell: (status) => [span(windowCell(status))], drop: 5 },
    { title: 'disk', cell: (status) => [diskSpan(status)], drop: 6 },
    { title: 'recovered', cell: (status) => [span(recoveredCell(status))], drop: 8 },
    { title: 'follow-ups', cell: (status) => [followUpSpan(status)], drop: 7 },
    { title: 'asked', cell: (status) => [askedSpan(status, asked)], drop: 4 },
  ];
}

const ANSWER_TOKENS = {
  yes: 'status.ok',
  no: 'status.bad',
  unknown: 'status.warn',
  empty: 'text.dim',
} as const;

/** Whether it could be recovered; `asking` before it has ever answered, unless the journal says no. */
export function answerSpan({ name, role, recoverable }: InstanceStatus, asked: Asked): Span {
  const { answer } = recoverable;
  const isOpen = isOpenTarget({ name, role }, asked.answeredAt);
  if (asked.isAsking && !asked.answeredAt.has(name) && (answer === 'unknown' || isOpen))
    return span('asking', 'text.dim');
  return span(ANSWER_WORDS[answer], ANSWER_TOKENS[answer]);
}

function newestSpan(status: InstanceStatus): Span {
  const { newestBackup, recoverable } = status;
  const isLate = newestBackup?.meetsRpo === false && recoverable.answer !== 'empty';
  return span(newestCell(status), isLate ? 'status.bad' : 'text');
}

function provenSpan(status: InstanceStatus): Span {
  const isLate = status.provenBackup?.meetsRpo === false;
  return span(backupCell(status, status.provenBackup), isLate ? 'status.warn' : 'text');
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

/** How old the newest answer is. */
function askedSpan({ name, parts }: InstanceStatus, { answeredAt, isAsking, now }: Asked): Span {
  const at = answeredAt.get(name);
  if (at === undefined) return span(isAsking ? 'asking' : 'never', 'text.dim');
  if (parts.backups.state === 'failed') return span('failed', 'status.warn');
  return span(briefly((now.getTime() - at.getTime()) / 1000), 'text.dim');
}
