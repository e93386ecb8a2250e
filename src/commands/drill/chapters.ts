import type { OfferedRunbookId } from '../../../machines/parts/touches.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { accidentalDeletion } from './accidental-deletion.ts';
import type { Chapter } from './chapter.ts';
import { inPlace } from './in-place.ts';
import { regionLoss } from './region-loss.ts';
import { rotation } from './rotation.ts';

const SOURCE = 'orders';
const TARGET = 'orders-dr';
const OTHER = 'billing';

/** A chapter for every runbook, in the order of a full drill, which plays those marked `inFullDrill`. */
const CHAPTERS: Readonly<
  Record<OfferedRunbookId, { readonly chapter: Chapter; readonly inFullDrill: boolean }>
> = {
  'rotate-key': { chapter: rotation(SOURCE), inFullDrill: true },
  'disaster-recovery': { chapter: regionLoss(SOURCE, TARGET), inFullDrill: true },
  'restore-point-in-time': { chapter: accidentalDeletion(OTHER), inFullDrill: true },
  'restore-backup': { chapter: inPlace(SOURCE, 'restore-backup'), inFullDrill: false },
  'back-up-and-verify': { chapter: inPlace(SOURCE, 'back-up-and-verify'), inFullDrill: false },
  'change-instance': { chapter: inPlace(SOURCE, 'change-instance'), inFullDrill: false },
};

/** The runbook for each scenario whose lesson does not show in a rotation. */
const SCENARIO_RUNBOOK: Readonly<Record<string, OfferedRunbookId>> = {
  'region-loss': 'disaster-recovery',
  storm: 'disaster-recovery',
  'disk-pressure': 'restore-backup',
};

/**
 * The chapters of a drill: that of the named runbook; with only a scenario, that of the scenario's runbook;
 * else the full drill. Rejects, with exit 2, what the lab's revision does not document.
 */
export function chaptersFor(wish: {
  readonly runbook: string | undefined;
  readonly scenario: string | undefined;
  readonly revision: '61' | '62';
}): readonly Chapter[] {
  const { runbook, scenario, revision } = wish;
  const wanted =
    runbook ?? (scenario === undefined ? undefined : (SCENARIO_RUNBOOK[scenario] ?? 'rotate-key'));
  const chapters = Object.values(CHAPTERS)
    .filter(({ chapter, inFullDrill }) => (wanted === undefined ? inFullDrill : chapter.runbook === wanted))
    .map(({ chapter }) => chapter);
  if (revision === '62') return chapters;
  const possible = chapters.filter(({ runbook: one }) => one !== 'restore-point-in-time');
  if (possible.length > 0) return possible;
  throw new LifeboatError('usage.revision', 'revision 61 documents no restore to a point in time', {
    hints: ['rehearse it with --revision 62'],
    exitCode: EXIT.usage,
  });
}
