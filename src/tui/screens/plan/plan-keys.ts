import { instantOf, msOf } from '../../../base/instant.ts';
import { isNoReason, noReasonWords } from '../../../base/reason.ts';
import { aboutStep, outOrUp, pauseOrResume, stopping } from '../../../view/plan/plan-decisions.ts';
import type { GroupView, LaneView, Needs, PlanView } from '../../../view/plan/plan-view.ts';
import { notTheName } from '../../../view/question-words.ts';
import { type BoundKey, footerKey } from '../../live-screen.ts';
import { EDITING_KEYS, type FieldIntent } from '../../parts/field.ts';
import {
  BACK_KEY,
  escapeKeys,
  type ListIntent,
  type ListState,
  listKeys,
  MARK_KEY,
} from '../../parts/list.ts';
import { READING_KEYS, type ReadingIntent } from '../../parts/reading.ts';
import {
  answeredLanes,
  askAt,
  askRowHere,
  laneAt,
  type Page,
  type PlanState,
  rowHere,
  typedOption,
} from './plan-state.ts';

export type PlanIntent =
  | 'open'
  | 'other-part'
  | 'choose'
  | 'pause'
  | 'stop'
  | 'out'
  | 'again'
  | 'skip'
  | 'outside'
  | 'ask'
  | 'entries'
  | 'watch'
  | 'copy'
  | 'take'
  | 'close'
  | 'leave'
  | ListIntent
  | ReadingIntent
  | FieldIntent;

type Key = BoundKey<PlanIntent>;

/** The keys that work now; disabled ones say why. Who looks on has every page, and no key that acts. */
export function planKeys(state: PlanState, view: PlanView): readonly Key[] {
  const keys = keysOfPage(state, view);
  const disabled = whyNoActing(view);
  return disabled === undefined
    ? keys
    : keys.map((key) => (ACTING.has(key.intent) ? { ...key, disabled } : key));
}

/** Why a person who looks on cannot act; undefined for who conducts the plan. */
function whyNoActing({ runId, outcome, watched }: PlanView): string | undefined {
  if (watched === undefined) return undefined;
  if (outcome !== undefined) return 'you look on, and the plan is over';
  const resume = `you look on; take it over with lifeboat resume ${runId}`;
  return watched.isFree ? resume : `${resume} once nobody drives it`;
}

/** What answers, decides, or prepares an answer. */
const ACTING: ReadonlySet<PlanIntent> = new Set<PlanIntent>([
  ...(['choose', 'mark', 'pause', 'stop', 'out', 'again', 'skip', 'outside', 'take'] as const),
]);

function keysOfPage(state: PlanState, view: PlanView): readonly Key[] {
  const { page } = state;
  switch (page.is) {
    case 'overview':
      return overviewKeys(state, page, view);
    case 'ask':
      return askKeys(page, view);
    case 'lane':
      return laneKeys(page, view);
    case 'typing':
      return typingKeys(page, view);
  }
}

function overviewKeys(
  state: PlanState,
  page: Page & { readonly is: 'overview' },
  view: PlanView,
): readonly Key[] {
  const { list } = page;
  if (list.isFiltering) return listKeys(list);
  const row = rowHere(view, state, page);
  const group = row === undefined || row.is === 'ask' ? undefined : row.group;
  const lane = row?.is === 'lane' ? row.lane : undefined;
  const none = row === undefined ? 'move to a row first' : undefined;
  return [
    { ...OPEN, label: row === undefined ? 'open' : OPENS[row.is], disabled: none },
    ...decisionKeys(group, lane),
    ...listKeys(list).filter(({ keys }) => !keys.includes('escape')),
    {
      intent: 'other-part',
      keys: ['tab'],
      shown: 'Tab',
      label: row?.is === 'ask' ? 'groups' : 'what waits',
      description: 'go to what waits for a person, or back to the groups',
      inFooter: true,
      disabled: view.asks.length === 0 ? 'nothing waits for a person' : undefined,
    },
    ...escapeKeys(list),
    leaveKey(view),
  ];
}

const OPENS = { ask: 'question', group: 'open or close', lane: 'show' } as const;

const OPEN: Key = footerKey(
  'enter',
  'open',
  'open',
  'open the question, show the instance, or open and close the group',
);

function decisionKeys(group: GroupView | undefined, lane: LaneView | undefined): readonly Key[] {
  const noGroup = 'move to a group first';
  const noLane = group === undefined ? noGroup : 'move to an instance first';
  const pause = group && pauseOrResume(group);
  const isHeld = group?.state === 'held';
  const step = group && lane && aboutStep(group, lane);
  const out = group && lane && outOrUp(group, lane);
  const key = (
    base: Key,
    offer: { readonly disabled: string | undefined } | undefined,
    none: string,
  ): Key => ({
    ...base,
    disabled: offer === undefined ? none : offer.disabled,
  });
  return [
    { ...key(PAUSE, pause, noGroup), ...(isHeld ? { label: 'go on' } : {}) },
    key(STOP, group && stopping(group), noGroup),
    { ...key(OUT, out, noLane), ...(lane?.is === 'out' ? { label: 'take up' } : {}) },
    key(AGAIN, step?.tryAgain, noLane),
    key(SKIP, step?.skip, noLane),
    key(OUTSIDE, step?.doneOutside, noLane),
  ];
}

const PAUSE: Key = footerKey('p', 'pause', 'pause', 'pause the group, or let it go on');
const STOP: Key = footerKey(
  'x',
  'stop',
  'stop',
  'stop the group: nothing new starts in it (asks for its name)',
);
const OUT: Key = footerKey('o', 'out', 'take out', 'take the instance out with a reason, or up again');
const AGAIN: Key = footerKey('a', 'again', 'try again', 'try the failed step of the instance again');
const SKIP: Key = footerKey('s', 'skip', 'skip step', 'skip the step of the instance, with a reason');
const OUTSIDE: Key = footerKey(
  'd',
  'outside',
  'done outside',
  'the step was done outside: say what shows it',
);

function leaveKey({ outcome, watched }: PlanView): Key {
  const isWatched = watched !== undefined;
  return footerKey(
    ['q', 'escape', 'ctrl+c'],
    'leave',
    outcome !== undefined ? 'close' : isWatched ? 'stop watching' : 'leave',
    isWatched
      ? 'stop watching; nothing changes for the plan'
      : 'leave the plan as it is: `lifeboat resume RUN` goes on',
  );
}

function movesOf(list: ListState): readonly Key[] {
  return listKeys(list).filter(({ intent }) => intent !== 'filter' && intent !== 'unmark');
}

function askKeys(page: Page & { readonly is: 'ask' }, view: PlanView): readonly Key[] {
  const ask = askAt(view, page.ask);
  if (ask === undefined) return [CLOSE];
  const row = askRowHere(ask, page);
  const lanes = answeredLanes(ask, page.list);
  const isMarked = page.list.marked.size > 0;
  const whom =
    ask.lanes.length < 2 ? '' : isMarked ? ` for ${lanes.length} marked` : ` for all ${lanes.length}`;
  const isLane = row?.is === 'asking';
  return [
    {
      ...footerKey(
        'enter',
        isLane ? 'open' : 'choose',
        isLane ? 'show' : `answer${whom}`,
        'give this answer, for the marked instances or for all that ask it',
      ),
      disabled: row === undefined ? 'move to an answer first' : isLane ? undefined : row.option.disabled,
    },
    {
      ...MARK_KEY,
      inFooter: ask.lanes.length > 1,
      description: 'mark the instance: the answer is for the marked ones alone',
      disabled: isLane ? undefined : 'move to an instance first',
    },
    ...[...movesOf(page.list), ...(page.list.marked.size > 0 ? escapeKeys(page.list) : [CLOSE])].map(
      typedOption(view, ask) === undefined ? (key: Key) => key : withoutLetters,
    ),
  ];
}

/** A key where letters are the text of a field. */
function withoutLetters(key: Key): Key {
  return { ...key, keys: key.keys.filter((name) => name.length > 1) };
}

function laneKeys(page: Page & { readonly is: 'lane' }, view: PlanView): readonly Key[] {
  const found = laneAt(view, page.lane);
  const noRun = found?.lane.runId === undefined ? 'it has no run yet' : undefined;
  return [
    {
      ...footerKey('enter', 'ask', 'question', 'open what the instance asks'),
      disabled: found?.lane.ask === undefined ? 'it asks nothing' : undefined,
    },
    ...decisionKeys(found?.group, found?.lane).filter(
      ({ intent }) => intent !== 'stop' && intent !== 'pause',
    ),
    { ...footerKey('w', 'watch', 'watch', 'watch the run of its step, with every line'), disabled: noRun },
    { ...footerKey('e', 'entries', 'entries', 'show what the journal has about the run'), disabled: noRun },
    { ...footerKey('y', 'copy', 'copy id', 'copy the id of the run'), disabled: noRun },
    ...READING_KEYS,
    CLOSE,
  ];
}

const CLOSE: Key = { ...BACK_KEY, intent: 'close', keys: ['escape', 'q', 'ctrl+c'] };

function typingKeys(page: Page & { readonly is: 'typing' }, view: PlanView): readonly Key[] {
  const { needs, field, what } = page;
  const isGone = what.is === 'answer' && askAt(view, what.ask.key) === undefined;
  return [
    {
      ...footerKey('enter', 'take', needs.what === 'name' ? 'confirm' : 'take it', 'take what was typed'),
      disabled: isGone ? 'it is no longer asked: nothing was answered' : problemOf(needs, field.text),
    },
    ...EDITING_KEYS,
    { ...BACK_KEY, intent: 'close', keys: ['escape', 'ctrl+c'], description: 'go back; nothing is decided' },
  ];
}

/** Why a typed text is not taken; undefined if it is. */
function problemOf(needs: Needs, text: string): string | undefined {
  const trimmed = text.trim();
  switch (needs.what) {
    case 'name':
      return text === needs.expected ? undefined : notTheName(text, needs.expected);
    case 'reason':
      return isNoReason(trimmed) ? noReasonWords(trimmed) : undefined;
    case 'evidence':
      return trimmed === '' ? 'type what shows it first' : undefined;
    case 'text': {
      if (trimmed === '') return 'type it first';
      const { pattern } = needs;
      return pattern === undefined || new RegExp(`^(?:${pattern.source})$`, 'u').test(trimmed)
        ? undefined
        : pattern.says;
    }
    case 'time': {
      const ms = instantOf(trimmed);
      if (ms === undefined) return 'type a time with its zone: 2026-11-21T03:04:05Z';
      const isWithin = ms >= msOf(needs.earliest) && ms <= msOf(needs.latest);
      return isWithin ? undefined : `not between ${needs.earliest} and ${needs.latest}`;
    }
    case 'secret':
      return undefined;
  }
}
