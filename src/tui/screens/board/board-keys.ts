import type { RunRow } from '../../../view/app/run-row.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import { type BoundKey, letterKey } from '../../live-screen.ts';
import { escapeKeys, type ListIntent, type ListState, listKeys, MARK_KEY } from '../../parts/list.ts';

export type BoardIntent =
  | 'open'
  | 'start'
  | 'resume'
  | 'runs'
  | 'followups'
  | 'keys'
  | 'journal'
  | 'lab'
  | 'sort'
  | 'copy'
  | 'mark-all'
  | 'back-up'
  | 'cards'
  | ListIntent;

/** The keys of the board, with why some do nothing now. */
export function boardKeys(
  list: ListState,
  { here, rows }: { readonly here: InstanceStatus | undefined; readonly rows: readonly InstanceStatus[] },
  open: readonly RunRow[],
  nextSort: string,
  hasLab: boolean,
): readonly BoundKey<BoardIntent>[] {
  if (list.isFiltering) return listKeys(list);
  const isEmpty = rows.length === 0;
  const none = here !== undefined ? undefined : isEmpty ? 'there is no instance in the list' : NOT_CHOSEN;
  const marks = list.marked.size;
  const [only] = open;
  const clearing = escapeKeys(list);
  const isOne = open.length === 1 && only !== undefined;
  // What was marked or filtered is what somebody is about to do something with.
  const marking: readonly BoundKey<BoardIntent>[] = [
    {
      intent: 'mark-all',
      keys: ['a'],
      shown: 'a',
      label: 'mark all',
      description: 'mark all instances that the filter shows, or unmark them where they are marked',
      inFooter: list.filter.text !== '',
      disabled: isEmpty ? none : undefined,
    },
    {
      intent: 'back-up',
      keys: ['b'],
      shown: 'b',
      label: `back up ${marks}`,
      description: 'back up and verify each instance that is marked, one after the other',
      inFooter: marks > 0,
      disabled: marks === 0 ? NONE_MARKED : undefined,
    },
    {
      intent: 'cards',
      keys: ['c'],
      shown: 'c',
      label: 'cards',
      description: 'make a recovery card of each instance that is marked, one after the other',
      inFooter: marks > 0,
      disabled: marks === 0 ? NONE_MARKED : undefined,
    },
    {
      intent: 'unmark',
      keys: ['u'],
      shown: 'u',
      label: 'unmark',
      description: 'unmark all',
      inFooter: marks > 0 && clearing.every(({ intent }) => intent !== 'unmark'),
      disabled: marks === 0 ? 'nothing is marked' : undefined,
    },
  ];
  return [
    {
      intent: 'open',
      keys: ['enter'],
      shown: 'Enter',
      label: 'look',
      description: 'look at the instance: its backups, restores, metrics and configuration',
      inFooter: true,
      disabled: none,
    },
    {
      intent: 'start',
      keys: ['s'],
      shown: 's',
      label: 'start',
      description: 'start a recovery, a rotation or another runbook on the instance',
      inFooter: true,
      disabled:
        marks > 1
          ? `a run changes one instance, and ${marks} are marked: b backs them up, c makes their cards, u unmarks them`
          : undefined,
    },
    ...(marks > 0 || list.filter.text !== '' ? [...clearing, ...marking] : []),
    {
      intent: 'resume',
      keys: ['o'],
      shown: 'o',
      label: isOne ? (only.heldBy === undefined ? 'resume' : 'watch') : 'open runs',
      description: isOne
        ? `go to the open run: ${only.runbook} of ${only.instance}`
        : 'go to the open runs, to resume or watch one',
      inFooter: true,
      disabled: open.length === 0 ? 'no run is open' : undefined,
    },
    { intent: 'runs', keys: ['r'], shown: 'r', label: 'runs', description: 'show all runs', inFooter: true },
    {
      intent: 'followups',
      keys: ['f'],
      shown: 'f',
      label: 'follow-ups',
      description: 'show the work that recoveries leave, to do, close or skip it',
      inFooter: true,
    },
    { intent: 'keys', keys: ['K'], shown: 'K', label: 'keys', description: 'show all keys', inFooter: true },
    letterKey('J', 'journal', 'journal', 'show the entries of the journal'),
    ...(hasLab ? [LAB] : []),
    {
      intent: 'sort',
      keys: ['S'],
      shown: 'S',
      label: `by ${nextSort}`,
      description: 'sort by danger, name, age of the newest backup, or what is left of the RPO',
      inFooter: false,
    },
    {
      ...MARK_KEY,
      description:
        'mark or unmark the instance; with all that are marked, b backs up, c makes recovery cards, y copies names',
      disabled: none,
    },
    ...(marks > 0 || list.filter.text !== '' ? [] : marking),
    {
      intent: 'copy',
      keys: ['y'],
      shown: 'y',
      label: 'copy',
      description: 'copy the name of the instance, or of all that are marked',
      inFooter: marks > 0,
      disabled: none,
    },
    ...listKeys(list).filter(({ keys }) => !keys.includes('escape')),
    ...EVERYWHERE,
  ];
}

const NONE_MARKED = 'nothing is marked: Space marks a row, a all that are shown';

/** While the instances are asked for the first time, and where the row of the cursor is gone. */
const NOT_CHOSEN = 'no instance is chosen: down chooses the first one';

/** Only a config for a lab has one. */
const LAB: BoundKey<BoardIntent> = letterKey(
  'L',
  'lab',
  'lab',
  'break things in the lab of this config; only where the config names one',
);

/** Keys that the app itself takes, named for the footer. */
const EVERYWHERE: readonly BoundKey<BoardIntent>[] = [
  { intent: 'open', keys: [], shown: '?', label: 'help', description: 'show these keys', inFooter: true },
];
