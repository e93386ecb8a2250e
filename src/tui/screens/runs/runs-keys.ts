import type { RunRow } from '../../../view/app/run-row.ts';
import { type BoundKey, letterKey } from '../../live-screen.ts';
import { BACK_KEY, type ListIntent, type ListState, listKeys } from '../../parts/list.ts';

export type Intent = 'open' | 'watch' | 'report' | 'journal' | 'copy' | 'drills' | ListIntent;

/** The keys over the list of runs, for the row of the cursor. */
export function keysOf(
  list: ListState,
  isDrills: boolean,
  run: RunRow | undefined,
): readonly BoundKey<Intent>[] {
  if (list.isFiltering) return listKeys(list);
  const none = run === undefined ? 'there is no run here' : undefined;
  return [
    { ...OPEN, ...whatEnterDoes(run), disabled: none ?? whyNotOpened(run) },
    { ...WATCH, disabled: none },
    { ...REPORT, disabled: none, inFooter: run?.status === 'open' },
    { ...JOURNAL, disabled: none ?? (isDrills ? 'the journal of a drill is in its own folder' : undefined) },
    { ...DRILLS, label: isDrills ? 'own runs' : 'drills' },
    { ...COPY, disabled: none },
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

function whatEnterDoes(run: RunRow | undefined) {
  if (run === undefined || run.status === 'open') return {};
  return { label: 'report', description: 'read the report of the run, which is over' };
}

function whyNotOpened(run: RunRow | undefined): string | undefined {
  if (run?.status !== 'open') return undefined;
  if (run.drill !== undefined) return 'this is a run of a drill, and its lab is gone';
  return run.heldBy === undefined ? undefined : `driven by ${run.heldBy}: w watches it`;
}

const OPEN: BoundKey<Intent> = {
  intent: 'open',
  keys: ['enter'],
  shown: 'Enter',
  label: 'resume',
  description: 'carry on with the run; the service is asked first what became of the last call',
  inFooter: true,
};
const WATCH: BoundKey<Intent> = letterKey('w', 'watch', 'watch', 'watch the run without taking it over');
const REPORT: BoundKey<Intent> = letterKey('r', 'report', 'report', 'read the report of the run');
const JOURNAL: BoundKey<Intent> = letterKey(
  'e',
  'journal',
  'entries',
  'show the entries of the run in the journal',
);
const DRILLS: BoundKey<Intent> = letterKey(
  'd',
  'drills',
  'drills',
  'show the runs of drills, or again those of this home',
);
const COPY: BoundKey<Intent> = {
  intent: 'copy',
  keys: ['y'],
  shown: 'y',
  label: 'copy id',
  description: 'copy the id of the run',
  inFooter: false,
};
