import type { RunRow } from '../../../view/app/run-row.ts';
import type { InstanceStatus } from '../../../view/fleet/fleet-facts.ts';
import { type BoundKey, letterKey } from '../../live-screen.ts';
import { type ListIntent, type ListState, listKeys, MARK_KEY } from '../../parts/list.ts';

export type BoardIntent =
  | 'open'
  | 'start'
  | 'resume'
  | 'runs'
  | 'keys'
  | 'journal'
  | 'lab'
  | 'sort'
  | 'copy'
  | 'unmark'
  | ListIntent;

/** The keys of the board, with why some do nothing now. */
export function boardKeys(
  list: ListState,
  here: InstanceStatus | undefined,
  open: readonly RunRow[],
  nextSort: string,
  hasLab: boolean,
): readonly BoundKey<BoardIntent>[] {
  if (list.isFiltering) return listKeys(list);
  const none = here === undefined ? 'there is no instance in the list' : undefined;
  const marks = list.marked.size;
  const [only] = open;
  const isOne = open.length === 1 && only !== undefined;
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
        marks > 1 ? `a run changes one instance, and ${marks} are marked: press u to unmark them` : undefined,
    },
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
      description: 'mark or unmark the instance; y copies the names of all that are marked',
      disabled: none,
    },
    {
      intent: 'unmark',
      keys: ['u'],
      shown: 'u',
      label: 'unmark',
      description: 'unmark all',
      inFooter: marks > 0,
      disabled: marks === 0 ? 'nothing is marked' : undefined,
    },
    {
      intent: 'copy',
      keys: ['y'],
      shown: 'y',
      label: 'copy',
      description: 'copy the name of the instance, or of all that are marked',
      inFooter: marks > 0,
      disabled: none,
    },
    ...listKeys(list),
    ...EVERYWHERE,
  ];
}

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
