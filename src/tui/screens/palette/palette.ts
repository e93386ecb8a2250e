import { COMMAND_WORDS } from '../../../view/app/command-words.ts';
import { SITUATIONS } from '../../../view/app/situations.ts';
import { NO_LAB } from '../../../view/app/sources.ts';
import type { AppEffect, Around, BoundKey, ScreenRequest, ShownKey } from '../../live-screen.ts';
import { footerKey } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  EDITING_KEYS,
  EMPTY_FIELD,
  type Field,
  type FieldIntent,
  fieldAfter,
  fieldLine,
} from '../../parts/field.ts';
import { type Column, tableBody } from '../../parts/table.ts';
import { BLANK, span } from '../../span.ts';

interface State {
  readonly field: Field;
  readonly row: number;
}

type Intent = 'up' | 'down' | 'choose' | 'close' | FieldIntent;

interface Item {
  readonly what: string;
  readonly about: string;
  readonly words?: string;
  readonly effect: AppEffect;
  readonly disabled?: string | undefined;
}

export interface Beneath {
  readonly keys: readonly ShownKey[];
  readonly isDriving: boolean;
  readonly hidesNames: boolean;
}

/** Lists everything that can be reached from here, found by typing a part of its name. */
export function paletteScreen(beneath: Beneath): OpenScreen {
  return screen<State, Intent>({
    init: { field: EMPTY_FIELD, row: 0 },
    subject: () => '',
    title: () => 'find anything',
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => true,
    keys: () => KEYS,
    needs: () => [{ source: 'runs', of: null }],
    reduce: (state, input, around) => {
      if (input.type === 'text') return [{ field: fieldAfter(state.field, input), row: 0 }];
      const found = foundOf(beneath, around, state.field.text);
      const row = Math.max(0, Math.min(state.row, found.length - 1));
      switch (input.intent) {
        case 'up':
          return [{ ...state, row: Math.max(0, row - 1) }];
        case 'down':
          return [{ ...state, row: Math.min(Math.max(0, found.length - 1), row + 1) }];
        case 'close':
          return [state, { type: 'back' }];
        case 'choose': {
          const item = found[row];
          if (item === undefined)
            return [state, { type: 'say', text: 'nothing fits: change what you typed' }];
          if (item.disabled !== undefined) return [state, { type: 'say', text: item.disabled }];
          return [state, item.effect];
        }
        default:
          return [{ field: fieldAfter(state.field, input), row: 0 }];
      }
    },
    layOut: (state, around, look) => {
      const found = foundOf(beneath, around, state.field.text);
      const above = [fieldLine(': ', state.field, around.size.columns, look), BLANK];
      const cursor = Math.max(0, Math.min(state.row, found.length - 1));
      const table = { columns: COLUMNS, rows: found, cursor, empty: 'nothing fits' };
      return tableBody(table, around.size, look, { above });
    },
  });
}

const COLUMNS: readonly Column<Item>[] = [
  {
    title: 'what',
    cell: ({ what, disabled }) => [span(what, disabled === undefined ? 'text' : 'text.dim')],
    least: 20,
  },
  {
    title: 'about',
    cell: ({ about, disabled }) => [span(disabled ?? about, 'text.dim')],
    least: 10,
    drop: 1,
  },
];

const KEYS: readonly BoundKey<Intent>[] = [
  footerKey('enter', 'choose', 'go', 'do what the cursor is on'),
  {
    intent: 'up',
    keys: ['up', 'ctrl+p'],
    shown: 'up/down',
    label: 'move',
    description: 'move to another row',
    inFooter: true,
  },
  {
    intent: 'down',
    keys: ['down', 'ctrl+n', 'tab'],
    shown: '',
    label: '',
    description: 'move down',
    inFooter: false,
  },
  ...EDITING_KEYS,
  footerKey(['escape', 'ctrl+c'], 'close', 'back', 'close the palette'),
];

/** The items that match the words, those that work now first. */
function foundOf(beneath: Beneath, around: Around, words: string): readonly Item[] {
  const found = itemsOf(beneath, around).filter((item) => fits(item, words));
  return found.toSorted(
    (one, other) => Number(one.disabled !== undefined) - Number(other.disabled !== undefined),
  );
}

/** How many runs the palette offers to export; the report of an older run has a key for it. */
const RUNS_OFFERED = 20;

function itemsOf({ keys, isDriving, hidesNames }: Beneath, { facts }: Around): readonly Item[] {
  const home = facts.get('home', null).last?.value;
  const instances = home?.instances ?? [];
  const runs = facts.get('runs', null).last?.value ?? [];
  const open = runs.filter(({ status }) => status === 'open');
  const driving = isDriving ? 'this window already drives a run: open a second terminal' : undefined;
  return [
    ...keys
      .filter(({ shown, label, keys: names }) => shown !== '' && label !== '' && names.length > 0)
      .map(
        ({ shown, label, description, disabled, keys: [name = ''] }): Item => ({
          what: `${label} (${shown})`,
          about: `this screen: ${description}`,
          effect: { type: 'press', key: name },
          disabled,
        }),
      ),
    ...screensByThemselves({
      start: driving,
      lab: home?.lab === undefined ? NO_LAB : undefined,
    }),
    ...SITUATIONS.map(
      ({ id, says, does, wish: { runbook }, words }): Item => ({
        ...go(says, `${runbook}: ${does}`, { name: 'start', situation: id }),
        words,
        disabled: driving,
      }),
    ),
    {
      what: 'quit',
      about: 'leave lifeboat',
      words: 'exit leave close q',
      effect: { type: 'instead', effect: { type: 'quit' } },
      disabled: isDriving ? 'a run is under way here: q on its screen leaves it' : undefined,
    },
    {
      what: hidesNames ? 'show names' : 'hide names',
      about: 'names, hosts and ids on every screen, when others can see it',
      effect: { type: 'instead', effect: { type: 'present' } },
    },
    ...instances.flatMap(({ name }): Item[] => [
      go(`instance ${name}`, 'its backups, restores, metrics and configuration', {
        name: 'instance',
        instance: name,
      }),
      {
        ...go(`start on ${name}`, 'choose by situation', { name: 'start', instance: name }),
        disabled: driving,
      },
      {
        what: `add a key of ${name}`,
        about: 'typed or pasted twice in a hidden field',
        effect: { type: 'instead', effect: { type: 'add-key', instance: name } },
      },
      go(`add a key of ${name} from a file`, 'its path is asked for', {
        name: 'keys',
        addTo: name,
      }),
    ]),
    ...open.map(
      ({ runId, runbook, instance, where }): Item => ({
        what: `resume ${runId}`,
        about: `${runbook} of ${instance}: ${where}`,
        effect: { type: 'instead', effect: { type: 'resume', runId } },
        disabled: driving,
      }),
    ),
    ...runs.slice(0, RUNS_OFFERED).map(
      ({ runId, runbook, instance }): Item => ({
        what: `bundle of ${runId}`,
        about: `write the evidence of ${runbook} of ${instance} into a new file`,
        words: 'export evidence auditor tar proof hand over',
        effect: { type: 'instead', effect: { type: 'errand', errand: { do: 'export', runId } } },
      }),
    ),
    ...COMMAND_WORDS.map(({ name, about, words }) => commandItem(`lifeboat ${name}`, about, words)),
    commandItem(
      'lifeboat report --all --format html --out lifeboat-all.html',
      'a report on all instances, with the runs of the last 90 days',
      'fleet evidence auditor estate',
    ),
    commandItem(
      'LIFEBOAT_THEME=contrast lifeboat',
      'the app in another theme: dark, light or contrast',
      'colours colors',
    ),
  ];
}

/** A command without a screen of its own is copied, for the shell that `!` opens. */
function commandItem(command: string, about: string, words: string): Item {
  const effect = { type: 'copy', text: command, what: 'the command: ! opens a shell for it' } as const;
  return { what: `copy ${command}`, about, words, effect: { type: 'instead', effect } };
}

/**
 * How to offer each screen that needs no subject. `with-its-thing`: it is offered together with a run or an
 * instance, here or where that is listed.
 */
const SCREENS: Readonly<
  Record<ScreenRequest['name'], readonly [what: string, about: string] | 'with-its-thing'>
> = {
  board: ['board', 'all instances, sorted by danger'],
  start: ['start a recovery', 'choose by situation'],
  runs: ['runs', 'open and closed runs'],
  followups: ['follow-ups', 'the work that recoveries leave: do, close or skip it'],
  keys: ['keys', 'which keys are held, and what they open'],
  journal: ['journal', 'every entry, the newest first'],
  lab: ['lab', 'break things in the lab of this config, also while a run waits'],
  each: 'with-its-thing',
  watch: 'with-its-thing',
  instance: 'with-its-thing',
  report: 'with-its-thing',
};

function screensByThemselves(
  disabled: Readonly<Partial<Record<ScreenRequest['name'], string | undefined>>>,
): readonly Item[] {
  return (Object.keys(SCREENS) as ScreenRequest['name'][]).flatMap((name) => {
    const words = SCREENS[name];
    if (words === 'with-its-thing') return [];
    return [{ ...go(words[0], words[1], { name } as ScreenRequest), disabled: disabled[name] }];
  });
}

function go(what: string, about: string, screen: (AppEffect & { type: 'open' })['screen']): Item {
  return { what, about, effect: { type: 'instead', effect: { type: 'open', screen } } };
}

function fits({ what, about, words: others = '' }: Item, text: string): boolean {
  const words = text
    .toLowerCase()
    .split(' ')
    .filter((word) => word !== '');
  const whole = `${what} ${about} ${others}`.toLowerCase();
  return words.every((word) => whole.includes(word));
}
