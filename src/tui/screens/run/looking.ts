import type { RailStep } from '../../../view/run-view.ts';
import { EMPTY_FIELD, edited, type FieldIntent, inserted } from '../../parts/field.ts';
import type { Intent } from './key-binding.ts';
import type { UiState } from './screen-state.ts';

/** The end of a text of any length: what is laid out takes as much of it as there is. */
const END = Number.MAX_SAFE_INTEGER;

/** What a key does to the log or the step that lies over the run; undefined where it is about neither. */
export function lookAround(state: UiState, intent: Intent): UiState | undefined {
  switch (intent) {
    case 'log':
      return { ...state, overlay: 'log', scroll: END, filter: EMPTY_FIELD, isFiltering: false };
    case 'close-look':
      return { ...state, overlay: 'none', scroll: 0 };
    case 'filter':
      return { ...state, isFiltering: true };
    case 'keep-filter':
      return { ...state, isFiltering: false };
    case 'drop-filter':
      return { ...state, isFiltering: false, filter: EMPTY_FIELD, scroll: END };
    case 'text-first':
      return { ...state, scroll: 0 };
    case 'text-last':
      return { ...state, scroll: END };
    case 'enlarge':
      return lookAtStep(state, 0);
    case 'step-before':
      return lookAtStep(state, -1);
    case 'step-after':
      return lookAtStep(state, 1);
    default:
      return state.isFiltering && state.overlay === 'log' && isEditing(intent)
        ? { ...state, filter: edited(state.filter, intent), scroll: END }
        : undefined;
  }
}

/** The filter with what was typed; the newest entry that fits is in sight. */
export function typeFilter(state: UiState, text: string): UiState {
  const line = text.replace(/\p{Cc}+/gu, ' ');
  return { ...state, filter: inserted(state.filter, line.slice(0, 200)), scroll: END };
}

/** From the step that is looked at, or from the one that the run is at. */
function lookAtStep(state: UiState, by: -1 | 0 | 1): UiState {
  const { rail } = state.view;
  if (rail.length === 0) return state;
  const isLooking = state.overlay === 'step';
  const here = rail.findIndex(isHere);
  const from = isLooking ? state.stepRow : here === -1 ? rail.length : here;
  const stepRow = Math.max(0, Math.min(rail.length - 1, from + by));
  return { ...state, overlay: 'step', stepRow, scroll: 0 };
}

/** Whether a run stands at a step. */
export function isHere({ state }: Pick<RailStep, 'state'>): boolean {
  return state === 'current' || state === 'failed';
}

const EDITING: ReadonlySet<Intent> = new Set<FieldIntent>([
  'erase',
  'erase-next',
  'erase-word',
  'clear',
  'left',
  'right',
  'word-left',
  'word-right',
  'begin',
  'end',
]);

function isEditing(intent: Intent): intent is FieldIntent {
  return EDITING.has(intent);
}
