import { counted } from '../../../base/format.ts';
import { newestCell } from '../../../view/app/status-cells.ts';
import { fleetAt } from '../../../view/fleet/fleet-at.ts';
import type { InstanceStatus } from '../../../view/fleet/fleet-facts.ts';
import { wrapLine } from '../../line.ts';
import type { AppEffect, Around, BoundKey, ScreenRequest } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  BACK_KEY,
  cursorAt,
  FRESH_LIST,
  isListIntent,
  type ListIntent,
  type ListState,
  listKeys,
  moved,
  placed,
} from '../../parts/list.ts';
import { type Column, tableBody } from '../../parts/table.ts';
import { BLANK, type Line, span } from '../../span.ts';

type Intent = 'begin' | ListIntent;

interface Row {
  readonly name: string;
  readonly status: InstanceStatus | undefined;
  /** Why it is left out; undefined where it gets a backup. */
  readonly out: string | undefined;
}

/**
 * What is done to several instances, before it is begun: each gets a backup that is proven, one after the
 * other. What replaces anything is never done to several.
 */
export function eachScreen({ instances }: ScreenRequest & { readonly name: 'each' }): OpenScreen {
  const rowsOf = ({ facts, now }: Pick<Around, 'facts' | 'now'>): readonly Row[] => {
    const known = facts.get('fleet', null).last?.value;
    const statuses = known === undefined ? [] : fleetAt(known, now).instances;
    return instances.map((name) => {
      const status = statuses.find((one) => one.name === name);
      return { name, status, out: whyOut(status) };
    });
  };
  const begun = (rows: readonly Row[]): AppEffect => ({
    type: 'start-each',
    wishes: rows
      .filter(({ out }) => out === undefined)
      .map(({ name }) => ({ runbook: 'back-up-and-verify', instance: name })),
  });
  return screen<ListState, Intent>({
    init: FRESH_LIST,
    subject: () => '',
    title: () => 'back up the marked ones',
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => false,
    keys: (_, around) => keysOf(rowsOf(around).filter(({ out }) => out === undefined).length),
    needs: () => [{ source: 'fleet', of: null }],
    reduce: (list, input, around) => {
      if (input.type === 'text') return [list];
      const { intent, page } = input;
      if (isListIntent(intent)) return [moved(list, intent, instances, page.height)];
      return [list, { type: 'instead', effect: begun(rowsOf(around)) }];
    },
    shown: (list) => placed(list, instances),
    layOut: (list, around, look) => {
      const { columns } = around.size;
      const rows = rowsOf(around);
      const count = rows.filter(({ out }) => out === undefined).length;
      const above = [...wrapLine([span(wordsOf(count), 'text.strong')], columns), BLANK];
      const table = { columns: COLUMNS, rows, cursor: cursorAt(list, instances), empty: 'nothing is marked' };
      return tableBody(table, around.size, look, { above });
    },
  });
}

function wordsOf(count: number): string {
  if (count === 0) return 'none of these can be backed up now';
  const each = count === 1 ? '' : ', one after the other: each';
  return (
    `a new backup of ${counted(count, 'instance')}${each} is downloaded and read to its last byte. ` +
    'Nothing is replaced. A run that is not proven waits for you; the next one begins when you close it'
  );
}

function whyOut(status: InstanceStatus | undefined): string | undefined {
  if (status === undefined) return 'it is not known here';
  const { openRuns, down, notFound, recoverable } = status;
  const [run] = openRuns;
  if (run !== undefined) return `run ${run} is open`;
  if (down !== undefined) return 'it is DOWN';
  if (notFound !== undefined) return 'it is NOT FOUND';
  return recoverable.answer === 'empty' ? 'it holds nothing of its own' : undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'instance', cell: ({ name }) => [span(name)], least: 17 },
  {
    title: 'newest backup',
    cell: ({ status }) => [span(status === undefined ? '?' : newestCell(status))],
    drop: 1,
  },
  { title: 'now', cell: ({ out }): Line => [doneSpan(out)], least: 10 },
];

function doneSpan(out: string | undefined) {
  return out === undefined ? span('gets a backup') : span(`left out: ${out}`, 'status.warn');
}

function keysOf(count: number): readonly BoundKey<Intent>[] {
  const moving = listKeys(FRESH_LIST).filter(({ intent }) => intent !== 'filter');
  return [
    {
      intent: 'begin',
      keys: ['enter'],
      shown: 'Enter',
      label: `back up ${count}`,
      description: 'back up and verify the marked instances, one after the other',
      inFooter: true,
      disabled: count === 0 ? 'none of these can be backed up now' : undefined,
    },
    ...moving,
    BACK_KEY,
  ];
}
