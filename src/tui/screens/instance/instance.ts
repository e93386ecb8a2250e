import type { BackupRow } from '../../../view/app/backup-list.ts';
import type { DetailGroup } from '../../../view/app/sources.ts';
import { knownOf, whyUnknown } from '../../../view/fleet/fleet-facts.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import { band, filledUp, GAP, type Layout, WIDE, wall } from '../../bands.ts';
import { cutLine, lineWidth, padLine, ruleLine, wrapLine } from '../../line.ts';
import {
  type AppEffect,
  type Around,
  type BoundKey,
  footerKey,
  type ScreenRequest,
} from '../../live-screen.ts';
import { type OpenScreen, screen } from '../../module-screen.ts';
import { fieldLine } from '../../parts/field.ts';
import {
  BACK_KEY,
  cursorAt,
  isListIntent,
  type ListIntent,
  listKeys,
  moved,
  placed,
  typedInto,
} from '../../parts/list.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { askedOf, factsBelow, verdictLines } from '../board/board-detail.ts';
import {
  backupLines,
  backupRows,
  FIRST,
  type InstanceState,
  listOf,
  metricLines,
  type Room,
  restoreLines,
  rowKeys,
  SECTIONS,
  type Section,
  statusOf,
} from './instance-sections.ts';

type Intent =
  | 'start'
  | 'copy'
  | 'entries'
  | 'restore'
  | 'verify'
  | 'download'
  | 'section'
  | 'section-before'
  | `to:${Section}`
  | 'scroll-down'
  | 'scroll-up'
  | ListIntent;

export function instanceScreen({ instance }: ScreenRequest & { readonly name: 'instance' }): OpenScreen {
  return screen<InstanceState, Intent>({
    init: FIRST,
    subject: () => instance,
    title: ({ section }) => section,
    badge: (_, { facts }) => {
      const found = facts.get('home', null).last?.value.instances.find(({ name }) => name === instance);
      if (found === undefined) return undefined;
      return found.isRehearsal ? 'REHEARSAL' : 'LIVE';
    },
    isTyping: (state) => listOf(state)?.isFiltering === true,
    keys: (state, around) => keysOf(instance, state, around),
    needs: () => [
      // The verdict comes with the fleet.
      { source: 'fleet', of: null },
      { source: 'instance', of: instance },
      { source: 'backups', of: instance },
    ],
    reduce: (state, input, around) => {
      const { section } = state;
      const list = listOf(state);
      const withList = (next: InstanceState['lists']['backups']): InstanceState =>
        section === 'overview' ? state : { ...state, lists: { ...state.lists, [section]: next } };
      if (input.type === 'text') return [list === undefined ? state : withList(typedInto(list, input.text))];
      const { intent, page } = input;
      if (isListIntent(intent))
        return [
          list === undefined
            ? state
            : withList(moved(list, intent, rowKeys(instance, state, around), page.height)),
        ];
      if (intent.startsWith('to:')) return [{ ...state, section: intent.slice('to:'.length) as Section }];
      switch (intent) {
        case 'section':
          return [{ ...state, section: sectionAt(section, 1) }];
        case 'section-before':
          return [{ ...state, section: sectionAt(section, -1) }];
        case 'scroll-down':
          return [{ ...state, scroll: Math.min(page.last, state.scroll + page.height) }];
        case 'scroll-up':
          return [{ ...state, scroll: Math.max(0, Math.min(state.scroll, page.last) - page.height) }];
        case 'start':
          return [state, { type: 'open', screen: { name: 'start', instance } }];
        case 'entries':
          return [state, { type: 'open', screen: { name: 'journal', stream: `instance/${instance}` } }];
        case 'restore':
        case 'verify':
        case 'download':
          return [state, ...withBackup(instance, intent, state, around)];
        case 'copy':
          return [state, ...copied(instance, state, around)];
      }
      return [state];
    },
    shown: (state, around) => {
      const list = listOf(state);
      const { section, lists } = state;
      if (list === undefined || section === 'overview') return state;
      return { ...state, lists: { ...lists, [section]: placed(list, rowKeys(instance, state, around)) } };
    },
    layOut: (state, around, look) => layOut(instance, state, around, look),
  });
}

function layOut(name: string, state: InstanceState, around: Around, look: Look): Layout {
  const { columns: width, rows: height } = around.size;
  const list = listOf(state);
  const isFiltered = list !== undefined && (list.isFiltering || list.filter.text !== '');
  const top = [
    cutLine([...tabs(state.section), ...agedMark(name, state, around)], width, look),
    ...(isFiltered ? [fieldLine('/', list.filter, width, look)] : []),
  ].slice(0, height);
  const room: Room = { width, height: Math.max(0, height - top.length) };
  if (state.section === 'overview') {
    const { page, bands } = layOutOverview(name, state.scroll, around, room, look);
    return { page, bands: [band(top, width), ...bands] };
  }
  const draw = { backups: backupLines, restores: restoreLines, metrics: metricLines }[state.section];
  const { lines, pageRows } = draw(name, state, around, room, look);
  return { page: { height: pageRows, last: 0 }, bands: [band(top, width), band(lines, width, room.height)] };
}

/** Older answers show their age. */
const AGED_MS = 60_000;

function agedMark(name: string, { section }: InstanceState, { facts, now }: Around): Line {
  const { last } = facts.get(section === 'backups' ? 'backups' : 'instance', name);
  const age = last === undefined ? 0 : now.getTime() - last.at.getTime();
  return age < AGED_MS ? [] : [span(` as of ${briefly(age / 1000)} ago`, 'status.warn')];
}

/** The sections with their numbers; the current one is in brackets. */
function tabs(shown: Section): Line {
  return SECTIONS.map((section, at) =>
    section === shown
      ? span(`[${at + 1} ${section}] `, 'selected')
      : span(` ${at + 1} ${section}  `, 'text.dim'),
  );
}

function sectionAt(section: Section, step: 1 | -1): Section {
  return SECTIONS[(SECTIONS.indexOf(section) + step + SECTIONS.length) % SECTIONS.length] ?? 'overview';
}

/** `y` copies the id under the cursor, or that of the instance. */
function idHere(
  name: string,
  state: InstanceState,
  around: Around,
): readonly [text: string, what: string] | undefined {
  const { section, lists } = state;
  const keys = rowKeys(name, state, around);
  const list = listOf(state);
  if (list === undefined) {
    const [overview] = around.facts.get('instance', name).last?.value.groups ?? [];
    const id = knownOf(overview?.rows)?.find(([label]) => label === 'id')?.[1];
    return id === undefined ? [name, `the name ${name}`] : [id, `the id of ${name}`];
  }
  const at = cursorAt(list, keys);
  const key = keys[at];
  if (key === undefined) return undefined;
  if (section === 'metrics') return [key, `the path ${key}`];
  if (section === 'restores') return [key, `the id of restore ${key}`];
  const backup = backupRows(name, lists.backups, around)[at];
  return backup?.backupId === undefined
    ? [key, `the id of backup ${key}`]
    : [backup.backupId, `the backup_id of backup ${key}`];
}

function copied(name: string, state: InstanceState, around: Around): readonly AppEffect[] {
  const found = idHere(name, state, around);
  return found === undefined ? [] : [{ type: 'copy', text: found[0], what: found[1] }];
}

function backupHere(name: string, state: InstanceState, around: Around): BackupRow | undefined {
  if (state.section !== 'backups') return undefined;
  const rows = backupRows(name, state.lists.backups, around);
  return rows[
    cursorAt(
      state.lists.backups,
      rows.map(({ id }) => String(id)),
    )
  ];
}

/** Acts on the selected backup. A restore asks before it changes anything. */
function withBackup(
  instance: string,
  what: 'restore' | 'verify' | 'download',
  state: InstanceState,
  around: Around,
): readonly AppEffect[] {
  const backup = backupHere(instance, state, around);
  if (backup === undefined) return [];
  const { id } = backup;
  if (what !== 'restore') return [{ type: 'errand', errand: { do: what, instance, id } }];
  const screen = { name: 'start', situation: 'older-state', instance, backup: String(id) } as const;
  return [{ type: 'open', screen }];
}

function backupKeys(
  name: string,
  state: InstanceState,
  around: Around,
  busy: string | undefined,
): readonly BoundKey<Intent>[] {
  if (state.section !== 'backups') return [];
  const backup = backupHere(name, state, around);
  const none = backup === undefined ? 'there is no backup here' : undefined;
  const undone =
    backup?.status === 'done' ? undefined : `the service does not list backup ${backup?.id} as done now`;
  return [
    {
      ...footerKey('r', 'restore', 'restore', 'look at what a restore of this backup does, and start it'),
      disabled: none ?? undone ?? busy,
    },
    {
      ...footerKey(
        'v',
        'verify',
        'verify',
        'download the backup and read it to its last byte; no file is kept, and no proof goes on record',
      ),
      disabled: none ?? undone,
    },
    {
      ...footerKey('d', 'download', 'download', 'download the backup, encrypted, into the current folder'),
      disabled: none ?? undone,
    },
  ];
}

function keysOf(name: string, state: InstanceState, around: Around): readonly BoundKey<Intent>[] {
  const list = listOf(state);
  if (list?.isFiltering === true) return listKeys(list);
  const status = statusOf(name, around);
  const [run] = status?.openRuns ?? [];
  const busy =
    run === undefined ? undefined : `run ${run} is open here: it has to end before another one begins`;
  return [
    {
      intent: 'section',
      keys: ['tab', 'right', 'l'],
      shown: 'Tab',
      label: 'next',
      description: 'show the next section',
      inFooter: true,
    },
    {
      intent: 'section-before',
      keys: ['left', 'h'],
      shown: 'left/right',
      label: 'section',
      description: 'show the section before or after',
      inFooter: false,
    },
    ...SECTIONS.map(
      (section, at): BoundKey<Intent> => ({
        intent: `to:${section}`,
        keys: [String(at + 1)],
        shown: String(at + 1),
        label: section,
        description: `show the section ${section}`,
        inFooter: false,
      }),
    ),
    {
      ...footerKey('s', 'start', 'start', 'start a recovery, a rotation or another runbook here'),
      disabled: busy,
    },
    ...backupKeys(name, state, around, busy),
    {
      ...footerKey('y', 'copy', 'copy id', 'copy the id of the row, or of the instance'),
      disabled: idHere(name, state, around) === undefined ? 'there is no row to copy from' : undefined,
    },
    footerKey('e', 'entries', 'entries', 'show what the journal has about the instance'),
    ...(list === undefined ? SCROLL : listKeys(list)),
    BACK_KEY,
  ];
}

const SCROLL: readonly BoundKey<Intent>[] = [
  {
    intent: 'scroll-down',
    keys: ['pagedown', 'down', 'j', ' '],
    shown: 'PgDn/PgUp',
    label: 'scroll',
    description: 'scroll by a page',
    inFooter: false,
  },
  {
    intent: 'scroll-up',
    keys: ['pageup', 'up', 'k'],
    shown: '',
    label: '',
    description: 'scroll back',
    inFooter: false,
  },
];

function layOutOverview(
  name: string,
  scroll: number,
  around: Around,
  { width, height }: { readonly width: number; readonly height: number },
  look: Look,
): Layout {
  const { facts, now } = around;
  const fleet = facts.get('fleet', null);
  const asked = askedOf(fleet, now);
  const status = statusOf(name, around);
  const fact = facts.get('instance', name);
  const failed = (wide: number) =>
    fact.part.state === 'failed'
      ? [
          ...wrapLine(
            [span(`${look.glyphs.warn} it could not be asked: ${fact.part.why}`, 'status.bad')],
            wide,
            2,
          ),
          ...(fact.part.hints ?? []).flatMap((hint) => wrapLine([span(`  ${hint}`)], wide, 2)),
        ]
      : [];
  const verdict = (wide: number) =>
    status === undefined
      ? []
      : [
          ruleLine('evaluation', wide, look, 'accent'),
          ...verdictLines(status, asked, wide, look),
          BLANK,
          ...factsBelow(status, asked, wide),
        ];
  const groups = (wide: number) =>
    (fact.last?.value.groups ?? []).map((group) => groupLines(group, wide, look));
  if (width < WIDE) {
    const lines = [...failed(width), ...joined([verdict(width), ...groups(width)])];
    const { shown, last } = window(lines, scroll, width, height, look);
    return {
      page: { height: Math.max(1, height - 1), last },
      bands: [band(filledUp(shown, height), width, height)],
    };
  }
  const left = Math.floor((width - GAP) / 2);
  const right = width - GAP - left;
  const one = window([...failed(left), ...joined([verdict(left)])], scroll, left, height, look);
  const other = window(joined(groups(right)), scroll, right, height, look);
  const panes = [
    { width: left, height, lines: filledUp(one.shown, height) },
    wall(height, look),
    { width: right, height, lines: filledUp(other.shown, height) },
  ];
  return {
    page: { height: Math.max(1, height - 1), last: Math.max(one.last, other.last) },
    bands: [{ height, panes }],
  };
}

function groupLines({ title, rows }: DetailGroup, width: number, look: Look): readonly Line[] {
  const head = ruleLine(title, width, look, 'accent');
  const why = whyUnknown(rows);
  if (rows.state !== 'known') {
    const hints = rows.state === 'failed' ? (rows.hints ?? []) : [];
    return [
      head,
      ...wrapLine([span(why ?? '', rows.state === 'failed' ? 'status.warn' : 'text.dim')], width),
      ...hints.flatMap((hint) => wrapLine([span(`  ${hint}`, 'text.dim')], width, 2)),
    ];
  }
  const wide = Math.min(
    Math.floor(width / 2),
    Math.max(0, ...rows.value.map(([label]) => lineWidth([span(label)]))) + 2,
  );
  return [
    head,
    ...rows.value.flatMap(([label, value]) =>
      wrapLine([span(value)], width - wide).map((row, at) => [
        ...padLine(cutLine([span(at === 0 ? label : '', 'text.dim')], wide - 1, look), wide),
        ...row,
      ]),
    ),
  ];
}

function joined(blocks: readonly (readonly Line[])[]): readonly Line[] {
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, at) => (at === 0 ? block : [BLANK, ...block]));
}

/** A window onto lines; the last row says if there is more. */
function window(lines: readonly Line[], scroll: number, width: number, height: number, look: Look) {
  if (lines.length <= height) return { shown: lines, last: 0 };
  const room = Math.max(1, height - 1);
  const last = lines.length - room;
  const first = Math.min(scroll, last);
  const below = lines.length - first - room;
  const note = below > 0 ? `${look.glyphs.more} ${below} more: PgDn` : 'the end: PgUp goes back';
  return {
    shown: [...lines.slice(first, first + room), cutLine([span(note, 'text.dim')], width, look)],
    last,
  };
}
