import { formatBytes, formatTime, timeOr } from '../../../base/format.ts';
import type { BackupRow } from '../../../view/app/backup-list.ts';
import { rowNamed } from '../../../view/app/fleet-row.ts';
import { metricWords } from '../../../view/app/metric-words.ts';
import type { MetricCourse, RestoreRow } from '../../../view/app/sources.ts';
import { fleetAt, knownOf, whyUnknown } from '../../../view/fleet/fleet-facts.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import { filledUp } from '../../bands.ts';
import { cutLine, padLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { cursorAt, FRESH_LIST, filtered, type ListState } from '../../parts/list.ts';
import { type Column, type TableView, tableLines } from '../../parts/table.ts';
import { type Line, type Look, type Span, span } from '../../span.ts';

export const SECTIONS = ['overview', 'backups', 'restores', 'metrics'] as const;
export type Section = (typeof SECTIONS)[number];

export interface InstanceState {
  readonly section: Section;
  /** First visible row of the overview. */
  readonly scroll: number;
  readonly lists: Readonly<Record<Exclude<Section, 'overview'>, ListState>>;
}

export const FIRST: InstanceState = {
  section: 'overview',
  scroll: 0,
  lists: { backups: FRESH_LIST, restores: FRESH_LIST, metrics: FRESH_LIST },
};

export function listOf({ section, lists }: InstanceState): ListState | undefined {
  return section === 'overview' ? undefined : lists[section];
}

/** The status of the instance as on the board. */
export function statusOf(name: string, { facts, now }: Around): InstanceStatus | undefined {
  const fleet = facts.get('fleet', null).last?.value;
  return fleet && rowNamed(fleetAt(fleet, now).instances, name)?.status();
}

export function backupRows(name: string, list: ListState, { facts }: Around): readonly BackupRow[] {
  const rows = facts.get('backups', name).last?.value.rows ?? [];
  return filtered(rows, list, ({ id, backupId, status, triggeredAt, provenAt }) =>
    [id, backupId, status, triggeredAt, provenAt === undefined ? '' : 'proven'].join(' '),
  );
}

function restoreRows(name: string, list: ListState, { facts }: Around): readonly RestoreRow[] {
  const rows = knownOf(facts.get('instance', name).last?.value.restores) ?? [];
  return filtered(rows, list, ({ id, backupId, status, triggeredAt }) =>
    [id, backupId, status, triggeredAt].join(' '),
  );
}

function metricRows(name: string, list: ListState, { facts }: Around): readonly MetricCourse[] {
  const rows = knownOf(facts.get('instance', name).last?.value.metrics)?.series ?? [];
  return filtered(rows, list, ({ path }) => path);
}

export function rowKeys(name: string, state: InstanceState, around: Around): readonly string[] {
  const { section, lists } = state;
  if (section === 'backups') return backupRows(name, lists.backups, around).map(({ id }) => String(id));
  if (section === 'restores') return restoreRows(name, lists.restores, around).map(({ id }) => String(id));
  return section === 'metrics' ? metricRows(name, lists.metrics, around).map(({ path }) => path) : [];
}

export interface Room {
  readonly width: number;
  readonly height: number;
}

interface Listed {
  readonly lines: readonly Line[];
  readonly pageRows: number;
}

function listed<Row>(
  table: TableView<Row>,
  { width, height }: Room,
  look: Look,
  { above = [], below = [] }: { readonly above?: readonly Line[]; readonly below?: readonly Line[] } = {},
): Listed {
  const { lines, pageRows } = tableLines(table, width, height - above.length - below.length, look);
  return { lines: filledUp([...above, ...lines, ...below], height), pageRows };
}

/** Every backup with its age and proof, below the range of point-in-time restores. */
export function backupLines(
  name: string,
  { lists }: InstanceState,
  around: Around,
  room: Room,
  look: Look,
): Listed {
  const { width } = room;
  const fact = around.facts.get('backups', name);
  const list = fact.last?.value;
  const range = list?.window;
  const top = [
    ...(fact.part.state === 'failed' ? failedLines(fact.part.why, width, look) : []),
    ...unreadLines(list?.unread, width, look),
    ...(range === undefined
      ? list?.noWindow === undefined
        ? []
        : [cutLine([span(`point in time: ${list.noWindow}`, 'text.dim')], width, look)]
      : [
          cutLine(
            [span(`point in time: ${formatTime(range.earliest)} to ${formatTime(range.latest)} UTC`)],
            width,
            look,
          ),
        ]),
  ];
  const rows = backupRows(name, lists.backups, around);
  return listed(
    {
      columns: BACKUP_COLUMNS,
      rows,
      cursor: cursorAt(
        lists.backups,
        rows.map(({ id }) => String(id)),
      ),
      empty: emptyWords(
        list !== undefined,
        lists.backups.filter.text,
        'there are no backups',
        fact.part.state,
      ),
    },
    room,
    look,
    { above: top },
  );
}

function unreadLines(unread: readonly string[] = [], width: number, look: Look): readonly Line[] {
  const more = unread.length - MAX_UNREAD;
  const words = more > 0 ? [...unread.slice(0, MAX_UNREAD), `and ${more} more`] : unread;
  return words.map((text) => cutLine([span(text, 'status.warn')], width, look));
}

const MAX_UNREAD = 2;

const BACKUP_COLUMNS: readonly Column<BackupRow>[] = [
  { title: 'id', cell: ({ id }) => [span(String(id))], align: 'right' },
  { title: 'status', cell: ({ status }) => [statusSpan(status)] },
  { title: 'age', cell: ({ ageSeconds }) => [span(ageSeconds === undefined ? '?' : briefly(ageSeconds))] },
  { title: 'requested (UTC)', cell: ({ triggeredAt }) => [span(timeOr(triggeredAt))], drop: 2 },
  {
    title: 'size',
    cell: ({ size }) => [span(size === undefined ? '?' : formatBytes(size))],
    align: 'right',
    drop: 1,
  },
  { title: 'proven', cell: (row) => [provenSpan(row)] },
  { title: 'key', cell: ({ keys }) => keysLine(keys), drop: 3, least: 12 },
  { title: 'backup_id', cell: ({ backupId }) => [span(backupId ?? '-', 'text.dim')], drop: 4, least: 8 },
];

function provenSpan({ provenAt }: BackupRow): Span {
  return provenAt === undefined
    ? span('no', 'text.dim')
    : span(formatTime(provenAt).slice(0, 16), 'status.ok');
}

function keysLine(keys: BackupRow['keys']): Line {
  if (keys.length === 0) return [span('?')];
  return keys.flatMap(({ fingerprint, isHeld }, at) => [
    span(at === 0 ? '' : ', '),
    isHeld === false ? span('MISSING ', 'status.bad') : span(isHeld === true ? 'held ' : '? ', 'text.dim'),
    span(fingerprint),
  ]);
}

/** Every restore that the service lists, the newest first. */
export function restoreLines(
  name: string,
  { lists }: InstanceState,
  around: Around,
  room: Room,
  look: Look,
): Listed {
  const detail = around.facts.get('instance', name).last?.value;
  const part = detail?.restores;
  const rows = restoreRows(name, lists.restores, around);
  return listed(
    {
      columns: RESTORE_COLUMNS,
      rows,
      cursor: cursorAt(
        lists.restores,
        rows.map(({ id }) => String(id)),
      ),
      empty:
        whyUnknown(part) ?? emptyWords(true, lists.restores.filter.text, 'there are no restores', 'known'),
    },
    room,
    look,
    { above: unreadLines(detail?.unreadRestores, room.width, look) },
  );
}

const RESTORE_COLUMNS: readonly Column<RestoreRow>[] = [
  { title: 'id', cell: ({ id }) => [span(String(id))], align: 'right' },
  {
    title: 'backup',
    cell: ({ backupId }) => [span(backupId === undefined ? '-' : String(backupId))],
    align: 'right',
  },
  { title: 'status', cell: ({ status }) => [statusSpan(status)] },
  { title: 'data of (UTC)', cell: ({ restoredFrom }) => [span(timeOr(restoredFrom))], drop: 2 },
  { title: 'requested (UTC)', cell: ({ triggeredAt }) => [span(timeOr(triggeredAt))] },
  { title: 'finished (UTC)', cell: ({ finishedAt }) => [span(timeOr(finishedAt))], drop: 1 },
];

const CHART_ROWS = 6;
/** A screen with fewer rows shows no chart. */
const CHART_FROM = 16;
const MIN_COURSE = 8;

/** Disks against their parachute sizes, each measurement with its course, and a chart of the selected one. */
export function metricLines(
  name: string,
  { lists }: InstanceState,
  around: Around,
  room: Room,
  look: Look,
): Listed {
  const { width, height } = room;
  const part = around.facts.get('instance', name).last?.value.metrics;
  const disks = (knownOf(part)?.disks ?? []).flatMap(({ text, isOpen }) =>
    wrapLine([span(text, isOpen ? 'status.bad' : 'text')], width, 2),
  );
  const top = disks.slice(0, Math.floor(height / 3));
  const rows = metricRows(name, lists.metrics, around);
  const cursor = cursorAt(
    lists.metrics,
    rows.map(({ path }) => path),
  );
  const here = rows[cursor];
  const chart = here === undefined || height < CHART_FROM ? [] : chartOf(here, width, look);
  return listed(
    {
      columns: metricColumns(Math.max(MIN_COURSE, Math.floor(width / 3)), look),
      rows,
      cursor,
      empty:
        whyUnknown(part) ?? emptyWords(true, lists.metrics.filter.text, 'there are no data points', 'known'),
    },
    room,
    look,
    { above: top, below: chart },
  );
}

function metricColumns(course: number, look: Look): readonly Column<MetricCourse>[] {
  return [
    { title: 'measurement', cell: ({ path }) => [span(path)], least: 12 },
    { title: 'latest', cell: ({ path, values }) => [span(metricWords(path, values.at(-1)))], align: 'right' },
    { title: 'course', cell: ({ values }) => [sparkline(values, course, look)], drop: 1 },
  ];
}

function chartOf({ path, values, at }: MetricCourse, width: number, look: Look): readonly Line[] {
  const shown = values.slice(-width);
  const least = shown.reduce((low, one) => Math.min(low, one), Number.POSITIVE_INFINITY);
  const most = shown.reduce((high, one) => Math.max(high, one), Number.NEGATIVE_INFINITY);
  const ends = `from ${metricWords(path, least)} to ${metricWords(path, most)}, ${shown.length} points, the newest ${formatTime(at)} UTC`;
  return [
    cutLine([span(path, 'text.strong')], width, look),
    ...chartLines(values, width, CHART_ROWS, look),
    cutLine([span(ends, 'text.dim')], width, look),
  ];
}

function statusSpan(status: string): Span {
  if (status === 'done') return span(status, 'status.ok');
  return span(status, status === 'failed' || status === 'deleted' ? 'status.bad' : 'status.warn');
}

function failedLines(why: string, width: number, look: Look): readonly Line[] {
  return wrapLine([span(`${look.glyphs.warn} could not be read: ${why}`, 'status.bad')], width, 2);
}

function emptyWords(isKnown: boolean, filter: string, none: string, state: string): string {
  if (!isKnown) return state === 'failed' ? '' : 'waiting for the answer';
  return filter === '' ? none : 'nothing fits the filter: Esc drops it';
}

/**
 * At most `width` cells, the newest last. The lowest visible value gets the lowest sign; so does a constant.
 */
export function sparkline(values: readonly number[], width: number, look: Look): Span {
  const shown = newest(values, width);
  const levels = Array.from(look.glyphs.levels);
  return span(shown.map((value) => levels[levelOf(value, shown, levels.length)] ?? ' ').join(''), 'accent');
}

/** The same as columns of `height` rows, which show smaller differences. */
export function chartLines(
  values: readonly number[],
  width: number,
  height: number,
  look: Look,
): readonly Line[] {
  const shown = newest(values, width);
  const levels = Array.from(look.glyphs.levels);
  const steps = levels.length;
  const heights = shown.map((value) => levelOf(value, shown, height * steps));
  return Array.from({ length: Math.max(0, height) }, (_, row) => {
    const below = (height - 1 - row) * steps;
    const text = heights.map((level) => {
      if (level < below) return ' ';
      return levels[Math.min(steps - 1, level - below)] ?? ' ';
    });
    return padLine([span(text.join(''), 'accent')], Math.min(width, shown.length));
  });
}

function newest(values: readonly number[], width: number): readonly number[] {
  const finite = values.filter((value) => Number.isFinite(value));
  return width <= 0 ? [] : finite.slice(-width);
}

function levelOf(value: number, shown: readonly number[], levels: number): number {
  const least = shown.reduce((low, one) => Math.min(low, one), Number.POSITIVE_INFINITY);
  const most = shown.reduce((high, one) => Math.max(high, one), Number.NEGATIVE_INFINITY);
  if (most === least) return 0;
  // Use halves: the difference of two values near the largest number would overflow.
  const share = (value / 2 - least / 2) / (most / 2 - least / 2);
  return Math.min(levels - 1, Math.floor(share * levels));
}
