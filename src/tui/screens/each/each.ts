import { counted } from '../../../base/format.ts';
import { type FleetRow, rowNamed } from '../../../view/app/fleet-row.ts';
import { cardCell, newestCell } from '../../../view/app/status-cells.ts';
import { fleetAt } from '../../../view/fleet/fleet-facts.ts';
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
  readonly row: FleetRow | undefined;
  /** Why it is left out; undefined if it gets a backup. */
  readonly out: string | undefined;
}

/** What each of several instances can get. Replacing anything is never offered for several. */
const GIFTS = {
  backup: {
    wish: { runbook: 'back-up-and-verify' },
    title: 'back up the marked ones',
    label: 'back up',
    description: 'back up and verify the marked instances, one after the other',
    none: 'none of these can be backed up now',
    gets: 'gets a backup',
    a: 'a new backup',
    each: 'is downloaded and read to its last byte. Nothing is replaced',
  },
  card: {
    wish: { runbook: 'disaster-recovery', prepare: true },
    title: 'cards of the marked ones',
    label: 'prepare',
    description: 'make a recovery card of the marked instances, one after the other',
    none: 'none of these can get a recovery card now',
    gets: 'gets a card',
    a: 'a recovery card',
    each: 'names the guid, the key and a backup that is read to its last byte. Each run first asks about the key',
  },
} as const;

/** Shows what will be done to several instances, one after the other, before it begins. */
export function eachScreen({ what, instances }: ScreenRequest & { readonly name: 'each' }): OpenScreen {
  const gift = GIFTS[what];
  const rowsOf = ({ facts, now }: Pick<Around, 'facts' | 'now'>): readonly Row[] => {
    const known = facts.get('fleet', null).last?.value;
    const fleet = known === undefined ? [] : fleetAt(known, now).instances;
    return instances.map((name) => {
      const row = rowNamed(fleet, name);
      return { name, row, out: whyOut(row) };
    });
  };
  const begun = (rows: readonly Row[]): AppEffect => ({
    type: 'start-each',
    wishes: rows.filter(({ out }) => out === undefined).map(({ name }) => ({ ...gift.wish, instance: name })),
  });
  return screen<ListState, Intent>({
    init: FRESH_LIST,
    subject: () => '',
    title: () => gift.title,
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => false,
    keys: (_, around) => keysOf(gift, rowsOf(around).filter(({ out }) => out === undefined).length),
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
      const above = [...wrapLine([span(wordsOf(gift, count), 'text.strong')], columns), BLANK];
      const table = {
        columns: columnsOf(gift),
        rows,
        cursor: cursorAt(list, instances),
        empty: 'nothing is marked',
      };
      return tableBody(table, around.size, look, { above });
    },
  });
}

type Gift = (typeof GIFTS)[keyof typeof GIFTS];

function wordsOf({ none, a, each }: Gift, count: number): string {
  if (count === 0) return none;
  const one = count === 1 ? '' : ', one after the other: each';
  return (
    `${a} of ${counted(count, 'instance')}${one} ${each}. ` +
    'A run that is not proven waits for you; the next one begins when you close it'
  );
}

function whyOut(row: FleetRow | undefined): string | undefined {
  if (row === undefined) return 'it is not known here';
  const { openRun, isDown, notFound, isRefused, verdict } = row;
  if (openRun !== undefined) return `run ${openRun} is open`;
  if (isDown) return 'it is DOWN';
  if (notFound !== undefined) return 'it is NOT FOUND';
  // Its run would wait for another token, and block all the following ones.
  if (isRefused) return 'its token is not taken';
  return verdict === 'empty' ? 'it holds nothing of its own' : undefined;
}

function columnsOf({ gets }: Gift): readonly Column<Row>[] {
  return [
    { title: 'instance', cell: ({ name }) => [span(name)], least: 17 },
    {
      title: 'newest backup',
      cell: ({ row }) => [span(row === undefined ? '?' : newestCell(row.status()))],
      drop: 1,
    },
    { title: 'card', cell: ({ row }) => [span(row === undefined ? '?' : cardCell(row.status()))], drop: 2 },
    {
      title: 'now',
      cell: ({ out }): Line => [out === undefined ? span(gets) : span(`left out: ${out}`, 'status.warn')],
      least: 10,
    },
  ];
}

function keysOf({ label, description, none }: Gift, count: number): readonly BoundKey<Intent>[] {
  const moving = listKeys(FRESH_LIST).filter(({ intent }) => intent !== 'filter');
  return [
    {
      intent: 'begin',
      keys: ['enter'],
      shown: 'Enter',
      label: `${label} ${count}`,
      description,
      inFooter: true,
      disabled: count === 0 ? none : undefined,
    },
    ...moving,
    BACK_KEY,
  ];
}
