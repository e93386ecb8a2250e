import type { OutcomeView, RunView } from '../../../view/run-view.ts';
import { GAP, type Layout, type Pane, scrolled, wall } from '../../bands.ts';
import type { Look } from '../../span.ts';
import { finishedLines } from './parts/outcome.ts';
import { railLines, railWidth, roomyRail } from './parts/rail.ts';
import type { UiState } from './screen-state.ts';

type Ended = RunView & { readonly outcome: OutcomeView };

/** From so many columns on the steps stand beside the end of a run; else they are the end of its text. */
const BESIDE = 100;

/** A run that is over, unless something lies over it. */
export function endedIn({ view, overlay }: UiState): Ended | undefined {
  const { outcome } = view;
  return outcome === undefined || overlay !== 'none' ? undefined : { ...view, outcome };
}

/** A run that is over, in the place of the run: its end, beside the steps that led there. */
export function finished(view: Ended, scroll: number, columns: number, height: number, look: Look): Layout {
  const isBeside = columns >= BESIDE && view.rail.length > 0 && view.rail.length <= height;
  const railCells = isBeside ? railWidth(view.rail, roomyRail(columns)) : 0;
  const width = isBeside ? columns - railCells - GAP : columns;
  const lines = finishedLines(view, view.outcome, { width, height, withSteps: !isBeside }, look);
  const { shown, page } = scrolled(lines, scroll, width, height, look);
  const text: Pane = { width, height, lines: shown };
  if (!isBeside) return { page, bands: [{ height, panes: [text] }] };
  const steps: Pane = { width: railCells, height, lines: railLines(view.rail, railCells, height, look) };
  return { page, bands: [{ height, panes: [steps, wall(height, look), text] }] };
}
