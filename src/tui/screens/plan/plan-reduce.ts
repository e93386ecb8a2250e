import {
  aboutStep,
  type Offer,
  outOrUp,
  pauseOrResume,
  stopping,
} from '../../../view/plan/plan-decisions.ts';
import type {
  AskOption,
  AskView,
  Decision,
  GroupView,
  LaneView,
  PlanView,
} from '../../../view/plan/plan-view.ts';
import { QUIET_MS } from '../../../view/question-words.ts';
import type { Around, Input } from '../../live-screen.ts';
import { EMPTY_FIELD, fieldAfter, inserted, typed } from '../../parts/field.ts';
import { cursorAt, FRESH_LIST, isListIntent, moved, typedInto } from '../../parts/list.ts';
import { isReadingIntent, scrolledTo } from '../../parts/reading.ts';
import type { PlanIntent } from './plan-keys.ts';
import {
  answeredLanes,
  askAt,
  askRowHere,
  askRowsOf,
  keysOfRows,
  laneAt,
  type Page,
  type PlanEffect,
  type PlanState,
  rowsOf,
  typedOption,
} from './plan-state.ts';

type Next = readonly [PlanState, ...PlanEffect[]];
type PageOf<Is extends Page['is']> = Page & { readonly is: Is };

/**
 * The next state of the screen, and its effects. A key that acts is taken only when none has acted for
 * `QUIET_MS`: one that is held down would act again on what it has just brought up.
 */
export function reducePlan(
  state: PlanState,
  input: Input<PlanIntent>,
  view: PlanView,
  { now }: Pick<Around, 'now'>,
): Next {
  if (input.type === 'text' || !(ACTS.has(input.intent) || input.intent === 'close'))
    return reducePage(state, input, view);
  const isQuiet = now.getTime() - state.actedMs >= QUIET_MS;
  const acted = { ...state, actedMs: now.getTime() };
  return isQuiet || input.intent === 'close' ? reducePage(acted, input, view) : [acted];
}

const ACTS: ReadonlySet<PlanIntent> = new Set<PlanIntent>([
  ...([
    'open',
    'choose',
    'ask',
    'pause',
    'stop',
    'out',
    'again',
    'skip',
    'outside',
    'take',
    'leave',
  ] as const),
]);

function reducePage(state: PlanState, input: Input<PlanIntent>, view: PlanView): Next {
  const { page } = state;
  switch (page.is) {
    case 'overview':
      return reduceOverview(state, page, input, view);
    case 'ask':
      return reduceAsk(state, page, input, view);
    case 'lane':
      return reduceLane(state, page, input, view);
    case 'typing':
      return reduceTyping(state, page, input);
  }
}

function reduceOverview(
  state: PlanState,
  page: PageOf<'overview'>,
  input: Input<PlanIntent>,
  view: PlanView,
): Next {
  const { list } = page;
  if (input.type === 'text') return [{ ...state, page: { ...page, list: typedInto(list, input.text) } }];
  const { intent } = input;
  const rows = rowsOf(view, state.opened, list);
  const keys = keysOfRows(rows);
  if (isListIntent(intent))
    return [{ ...state, page: { ...page, list: moved(list, intent, keys, input.page.height) } }];
  if (intent === 'leave') return [state, { type: 'leave' }];
  const row = rows[cursorAt(list, keys)];
  if (intent === 'other-part') {
    const to = rows.find(({ is }) => (row?.is === 'ask' ? is === 'group' : is === 'ask'));
    if (to === undefined) return [state];
    return [{ ...state, page: { ...page, list: { ...list, cursor: to.key, isPlaced: true } } }];
  }
  if (row === undefined) return [state];
  // Acting on a row chooses it: no question that comes up later takes the cursor from there.
  const here = { ...state, page: { ...page, list: { ...list, cursor: row.key, isPlaced: true } } };
  if (intent === 'open' && row.is === 'group') {
    const opened = new Map(state.opened).set(row.group.id, !row.isOpen);
    return [{ ...here, opened }];
  }
  if (intent === 'open' && row.is === 'ask') return [atAsk(here, row.ask)];
  if (intent === 'open' && row.is === 'lane') return atLane(here, row.lane);
  if (row.is === 'ask') return [state];
  // What holds a group is read before it goes on.
  const held =
    row.group.state === 'held' && row.group.held?.why !== 'person' ? heldAsk(view, row.group) : undefined;
  if (intent === 'pause' && held !== undefined) return [atAsk(here, held)];
  return decided(here, offerOf(intent, row.group, row.is === 'lane' ? row.lane : undefined));
}

function heldAsk({ asks }: PlanView, { id }: GroupView): AskView | undefined {
  return asks.find(({ of }) => of.is === 'group' && of.group === id);
}

function offerOf(intent: PlanIntent, group: GroupView, lane: LaneView | undefined): Offer | undefined {
  if (intent === 'pause') return pauseOrResume(group);
  if (intent === 'stop') return stopping(group);
  if (lane === undefined) return undefined;
  if (intent === 'out') return outOrUp(group, lane);
  const { tryAgain, skip, doneOutside } = aboutStep(group, lane);
  return { again: tryAgain, skip, outside: doneOutside }[intent as string];
}

/** Takes a decision, or asks first for what it needs. */
function decided(state: PlanState, offer: Offer | undefined): Next {
  if (offer === undefined || offer.disabled !== undefined) return [state];
  const { decision } = offer;
  return decision.needs === undefined
    ? [state, { type: 'decide', decision, text: '' }]
    : [typing(state, decision)];
}

function typing(state: PlanState, decision: Decision): PlanState {
  const { order, needs } = decision;
  if (needs === undefined) return state;
  const what = { is: 'decision', decision } as const;
  return { ...state, page: { is: 'typing', order, needs, field: EMPTY_FIELD, what, back: state.page } };
}

function atAsk(state: PlanState, { key }: AskView): PlanState {
  return { ...state, page: { is: 'ask', ask: key, list: FRESH_LIST, back: state.page } };
}

function atLane(state: PlanState, { key }: Pick<LaneView, 'key'>): Next {
  const page = { is: 'lane', lane: key, scroll: 0, back: state.page } as const;
  return [
    { ...state, page },
    { type: 'read', lane: key },
  ];
}

function reduceAsk(state: PlanState, page: PageOf<'ask'>, input: Input<PlanIntent>, view: PlanView): Next {
  if (input.type === 'text') return typedAtOnce(state, page, input, view);
  const { intent } = input;
  if (intent === 'close') return [{ ...state, page: page.back }];
  const ask = askAt(view, page.ask);
  if (ask === undefined) return [state];
  const keys = keysOfRows(askRowsOf(ask));
  if (isListIntent(intent))
    return [{ ...state, page: { ...page, list: moved(page.list, intent, keys, input.page.height) } }];
  const row = askRowHere(ask, page);
  if (intent === 'open' && row?.is === 'asking') return atLane(state, row.lane);
  if (intent === 'choose' && row?.is === 'option') return chosen(state, page, ask, row.option);
  return [state];
}

/** What is typed goes to the only field of the question, as if its answer had been chosen first. */
function typedAtOnce(state: PlanState, page: PageOf<'ask'>, input: Input<PlanIntent>, view: PlanView): Next {
  const ask = askAt(view, page.ask);
  const option = typedOption(view, ask);
  if (ask === undefined || option === undefined) return [state];
  const [opened] = chosen(state, page, ask, option);
  return reducePage(opened, input, view);
}

function chosen(state: PlanState, page: PageOf<'ask'>, ask: AskView, { act, label, needs }: AskOption): Next {
  const lanes = answeredLanes(ask, page.list);
  const overview = withAnswered(state, page.back, ask);
  if (needs !== undefined && needs.what !== 'secret') {
    const what =
      act.do === 'decide'
        ? ({ is: 'decision', decision: act.decision } as const)
        : ({ is: 'answer', ask, act, lanes } as const);
    return [{ ...state, page: { is: 'typing', order: label, needs, field: EMPTY_FIELD, what, back: page } }];
  }
  if (act.do === 'decide') return [overview, { type: 'decide', decision: act.decision, text: '' }];
  return [overview, { type: 'answer', ask: ask.key, lanes, act, needs, text: '' }];
}

/** The overview once a question was answered, from the page that asked it. */
function withAnswered(state: PlanState, page: Page, ask: AskView): PlanState {
  const { key, of } = ask;
  return { ...state, page: overviewOf(page, ask), ...(of.is === 'plan' ? { answered: key } : {}) };
}

/** Back to the overview: the cursor goes to the group that asked, or to the plan's next question. */
function overviewOf(page: Page, { of }: Pick<AskView, 'of'>): Page {
  if (page.is !== 'overview') return overviewOf(page.back, { of });
  if (page.list.cursor?.startsWith('ask ') !== true) return page;
  const cursor = of.is === 'plan' ? undefined : `group ${of.group}`;
  return { ...page, list: { ...page.list, cursor, isPlaced: cursor !== undefined } };
}

function groupOf({ event }: Decision): AskView['of'] {
  return { is: 'group', group: event.group };
}

function reduceLane(state: PlanState, page: PageOf<'lane'>, input: Input<PlanIntent>, view: PlanView): Next {
  if (input.type === 'text') return [state];
  const { intent } = input;
  if (isReadingIntent(intent))
    return [{ ...state, page: { ...page, scroll: scrolledTo(page.scroll, intent, input.page) } }];
  if (intent === 'close')
    return [
      { ...state, page: page.back },
      { type: 'read', lane: undefined },
    ];
  const found = laneAt(view, page.lane);
  if (found === undefined) return [state];
  const { group, lane } = found;
  const { runId } = lane;
  const ask = lane.ask === undefined ? undefined : askAt(view, lane.ask);
  if (intent === 'ask') return ask === undefined ? [state] : [atAsk(state, ask)];
  if (runId !== undefined && intent === 'copy')
    return [state, { type: 'copy', text: runId, what: 'the id of the run' }];
  if (runId !== undefined && intent === 'watch')
    return [state, { type: 'open', screen: { name: 'watch', runId } }];
  if (runId !== undefined && intent === 'entries')
    return [state, { type: 'open', screen: { name: 'journal', stream: `run/${runId}` } }];
  return decided(state, offerOf(intent, group, lane));
}

function reduceTyping(state: PlanState, page: PageOf<'typing'>, input: Input<PlanIntent>): Next {
  const { what, needs, field, back } = page;
  const isIntent = input.type === 'intent';
  if (isIntent && input.intent === 'close') return [{ ...state, page: back }];
  if (isIntent && input.intent === 'take') {
    const text = needs.what === 'name' ? field.text : field.text.trim();
    if (what.is === 'decision')
      return [
        { ...state, page: back.is === 'ask' ? overviewOf(back, { of: groupOf(what.decision) }) : back },
        { type: 'decide', decision: what.decision, text: needs.what === 'name' ? '' : text },
      ];
    const { ask, act, lanes } = what;
    return [withAnswered(state, back, ask), { type: 'answer', ask: ask.key, lanes, act, needs, text }];
  }
  // A name has to be right to the character.
  return [
    {
      ...state,
      page: { ...page, field: fieldAfter(field, input, needs.what === 'name' ? inserted : typed) },
    },
  ];
}
