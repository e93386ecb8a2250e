import type {
  Act,
  AskingLane,
  AskOption,
  AskView,
  Decision,
  GroupView,
  LaneView,
  Needs,
  PlanView,
} from '../../../view/plan/plan-view.ts';
import type { LogLine } from '../../../view/run-view.ts';
import { memoised } from '../../line.ts';
import type { AppEffect } from '../../live-screen.ts';
import type { Field } from '../../parts/field.ts';
import { cursorAt, FRESH_LIST, filtered, type ListState } from '../../parts/list.ts';

export interface PlanKnown {
  view(): PlanView;
  /** The newest lines of the run that a lane is at; undefined until they are read. */
  lines(lane: string): readonly LogLine[] | undefined;
}

export interface PlanState {
  readonly page: Page;
  /** Groups that the person has opened (`true`) or closed; the others are open once they have begun. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** When a key last acted, in milliseconds since 1970. */
  readonly actedMs: number;
  /** The question of the plan that was answered last: while it is still drawn, no row is given the cursor. */
  readonly answered?: string;
}

export type Page = Overview | AskPage | LanePage | TypingPage;

interface Overview {
  readonly is: 'overview';
  readonly list: ListState;
}

interface AskPage {
  readonly is: 'ask';
  readonly ask: string;
  readonly list: ListState;
  readonly back: Page;
}

interface LanePage {
  readonly is: 'lane';
  readonly lane: string;
  readonly scroll: number;
  readonly back: Page;
}

interface TypingPage {
  readonly is: 'typing';
  readonly order: string;
  readonly needs: Needs;
  readonly field: Field;
  readonly what: Typed;
  readonly back: Page;
}

type Typed =
  | { readonly is: 'decision'; readonly decision: Decision }
  | {
      readonly is: 'answer';
      readonly ask: AskView;
      readonly act: Act;
      readonly lanes: readonly AskingLane[];
    };

export type PlanEffect =
  | AppEffect
  | {
      readonly type: 'answer';
      readonly ask: string;
      /** Who is answered; empty for the plan's own question. */
      readonly lanes: readonly AskingLane[];
      readonly act: Act;
      readonly needs: Needs | undefined;
      readonly text: string;
    }
  | { readonly type: 'decide'; readonly decision: Decision; readonly text: string }
  /** Reads the newest lines of this lane from now on; of none if it is undefined. */
  | { readonly type: 'read'; readonly lane: string | undefined }
  | { readonly type: 'leave' };

export const FIRST: PlanState = {
  page: { is: 'overview', list: FRESH_LIST },
  opened: new Map(),
  actedMs: Number.NEGATIVE_INFINITY,
};

export type Row =
  | { readonly is: 'ask'; readonly key: string; readonly ask: AskView }
  | { readonly is: 'group'; readonly key: string; readonly group: GroupView; readonly isOpen: boolean }
  | { readonly is: 'lane'; readonly key: string; readonly group: GroupView; readonly lane: LaneView };

/** The rows of the overview: what waits for a person, then the groups with their lanes. */
export const rowsOf = memoised(
  (view: PlanView, opened: PlanState['opened'], list: ListState): readonly Row[] => [
    ...view.asks.map((ask): Row => ({ is: 'ask', key: `ask ${ask.key}`, ask })),
    ...view.groups.flatMap((group): readonly Row[] => {
      const isFiltered = list.filter.text.trim() !== '';
      const isOpen = isFiltered || (opened.get(group.id) ?? isShown(group, list));
      const lanes = isOpen ? filtered(group.lanes, list, laneText) : [];
      if (isFiltered && lanes.length === 0) return [];
      return [
        { is: 'group', key: `group ${group.id}`, group, isOpen },
        ...lanes.map((lane): Row => ({ is: 'lane', key: `lane ${lane.key}`, group, lane })),
      ];
    }),
  ],
);

/** Before a person opens or closes a group: while under way, then if a lane is amiss or has the cursor. */
function isShown({ id, state, lanes }: GroupView, { cursor }: ListState): boolean {
  if (state === 'waiting' || state === 'notRun') return false;
  if (state !== 'done' || cursor?.startsWith(`lane ${id}/`) === true) return true;
  return lanes.some(isAmiss);
}

/** Whether something of a lane went wrong, or is left to a person. */
export function isAmiss({ tone }: LaneView): boolean {
  return tone === 'bad' || tone === 'warn';
}

function laneText({ shown, target, state, words, group }: LaneView): string {
  return `${group} ${shown} ${target ?? ''} ${state} ${words}`;
}

export const keysOfRows = memoised((rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key));

export type AskRow =
  | { readonly is: 'option'; readonly key: string; readonly option: AskOption }
  | { readonly is: 'asking'; readonly key: string; readonly lane: AskingLane };

export const askRowsOf = memoised((ask: AskView): readonly AskRow[] => [
  ...ask.options.map((option): AskRow => ({ is: 'option', key: `option ${option.key}`, option })),
  ...ask.lanes.map((lane): AskRow => ({ is: 'asking', key: laneRowKey(lane), lane })),
]);

function laneRowKey({ key, runId }: AskingLane): string {
  return `lane ${key} ${runId ?? ''}`;
}

/** Whom an answer goes to: the marked lanes, or all of them. */
export function answeredLanes({ lanes }: AskView, { marked }: ListState): readonly AskingLane[] {
  const chosen = lanes.filter((lane) => marked.has(laneRowKey(lane)));
  return chosen.length === 0 ? lanes : chosen;
}

export function rowHere(view: PlanView, { opened }: PlanState, { list }: Overview): Row | undefined {
  const rows = rowsOf(view, opened, list);
  return rows[cursorAt(list, keysOfRows(rows))];
}

export function askRowHere(ask: AskView, { list }: AskPage): AskRow | undefined {
  const rows = askRowsOf(ask);
  return rows[cursorAt(list, keysOfRows(rows))];
}

export function askAt({ asks }: PlanView, key: string): AskView | undefined {
  return asks.find((ask) => ask.key === key);
}

/**
 * The answer to a question that asks for a text, such as a name: it is typed without a key before it.
 * Undefined where a text would only be the reason of one of several answers, and for who only looks on.
 */
export function typedOption(
  { watched }: Pick<PlanView, 'watched'>,
  ask: AskView | undefined,
): AskOption | undefined {
  if (watched !== undefined) return undefined;
  const options = (ask?.options ?? []).filter(
    ({ act, needs, disabled }) =>
      act.do === 'answer' && needs !== undefined && ASKED.has(needs.what) && disabled === undefined,
  );
  return options.length === 1 ? options[0] : undefined;
}

const ASKED: ReadonlySet<Needs['what']> = new Set(['name', 'text', 'time']);

export function laneAt(
  { groups }: PlanView,
  key: string,
): { readonly group: GroupView; readonly lane: LaneView } | undefined {
  for (const group of groups) {
    const lane = group.lanes.find((one) => one.key === key);
    if (lane !== undefined) return { group, lane };
  }
  return undefined;
}
