import { failureOf } from '../../../base/errors.ts';
import { counted } from '../../../base/format.ts';
import type { Secret } from '../../../base/secret.ts';
import type { AskedSecret } from '../../../view/app/app-port.ts';
import type { Facts } from '../../../view/app/sources.ts';
import type { AskingLane, AskView, PlanPort, PlanView } from '../../../view/plan/plan-view.ts';
import { LEFT } from '../../../view/run-port.ts';
import type { LogLine } from '../../../view/run-view.ts';
import type { AppEffect, LiveScreen, ScreenModule } from '../../live-screen.ts';
import { liveScreen } from '../../module-screen.ts';
import { placed } from '../../parts/list.ts';
import { type PlanIntent, planKeys } from './plan-keys.ts';
import { layOutPlan } from './plan-layout.ts';
import { reducePlan } from './plan-reduce.ts';
import {
  askAt,
  askRowsOf,
  FIRST,
  keysOfRows,
  laneAt,
  type Page,
  type PlanEffect,
  type PlanKnown,
  type PlanState,
  rowsOf,
  typedOption,
} from './plan-state.ts';

interface PlanScreenOptions {
  readonly facts: Facts;
  readonly now: () => Date;
  /** Asks for a secret in a field over the screen. */
  readonly enter: (asked: AskedSecret) => Promise<Secret>;
  readonly onEffect: (effect: AppEffect) => void;
  /** The person leaves the plan, or closes the screen of one that is over. */
  readonly onDone: () => void;
  /** Why no other screen can be opened from here; undefined if they can. */
  readonly alone?: string | undefined;
}

/**
 * With a thousand events a second the view is built this seldom: it holds every instance of the plan. The
 * first event after a pause is shown at once, and so is what a key has done.
 */
const LOOK_MS = 200;
const TICK_MS = 1_000;

/** The screen of the run of a plan. It stays subscribed to the plan until `stop`. */
export function planScreen(port: PlanPort, options: PlanScreenOptions): LiveScreen & { stop(): void } {
  const listeners = new Set<() => void>();
  let view = port.view();
  let lookedMs = options.now().getTime();
  let pending: NodeJS.Timeout | undefined;
  let reading: string | undefined;
  let read: { readonly lane: string; readonly lines: readonly LogLine[] } | undefined;

  const tell = () => {
    for (const listener of listeners) listener();
  };
  const look = () => {
    clearTimeout(pending);
    pending = undefined;
    view = port.view();
    lookedMs = options.now().getTime();
    tell();
  };
  const lookSoon = () => {
    pending ??= setTimeout(look, Math.max(0, LOOK_MS - (options.now().getTime() - lookedMs)));
  };
  const readLines = async () => {
    const lane = reading;
    const runId = lane === undefined ? undefined : laneAt(view, lane)?.lane.runId;
    if (lane === undefined || runId === undefined) return;
    const lines = await port.newest(runId).catch(() => undefined);
    if (lines === undefined || reading !== lane) return;
    read = { lane, lines };
    tell();
  };
  const say = (text: string) => options.onEffect({ type: 'say', text });
  const perform = async (effect: PlanEffect): Promise<void> => {
    switch (effect.type) {
      case 'leave':
        return options.onDone();
      case 'read':
        reading = effect.lane;
        return readLines();
      case 'decide': {
        const { event, order } = effect.decision;
        // An event that needs words has a field for them.
        const spoken = effect.text === '' ? event : { ...event, text: effect.text };
        await port.decide(spoken, order);
        say(`on record: ${order}`);
        return look();
      }
      case 'answer': {
        const said = await giveAnswer(port, effect, options.enter);
        say(said);
        return look();
      }
      case 'open':
        if (options.alone !== undefined) return say(options.alone);
        return options.onEffect(effect);
      default:
        return options.onEffect(effect);
    }
  };
  const known: PlanKnown = {
    view: () => view,
    lines: (lane) => (read?.lane === lane ? read.lines : undefined),
  };
  const inner = liveScreen(planModule(known), {
    facts: options.facts,
    now: options.now,
    onEffect: (effect) => void perform(effect).catch((thrown: unknown) => say(wordsOf(thrown))),
  });
  const unsubscribe = port.subscribe(lookSoon);
  const tick = setInterval(() => {
    look();
    void readLines();
  }, TICK_MS);
  return {
    ...inner,
    subscribe(listener) {
      listeners.add(listener);
      const forget = inner.subscribe(listener);
      return () => {
        listeners.delete(listener);
        forget();
      };
    },
    leave: (why) => port.leave(why ?? LEFT.byOperator),
    stop() {
      unsubscribe();
      clearInterval(tick);
      clearTimeout(pending);
    },
  };
}

export function planModule(known: PlanKnown): ScreenModule<PlanState, PlanIntent, PlanEffect> {
  return {
    init: FIRST,
    subject: () => known.view().plan,
    title: () => titleOf(known.view()),
    badge: () => known.view().mode,
    isTyping: ({ page }) => isTyping(page, known.view()),
    keys: (state) => planKeys(state, known.view()),
    needs: () => [],
    reduce: (state, input, around) => reducePlan(state, input, known.view(), around),
    shown: (state) => placedPlan(state, known.view()),
    layOut: (state, { size }, look) => layOutPlan(state, known, size, look),
  };
}

function titleOf({ asks, outcome, watched }: PlanView): string {
  const plan = watched === undefined ? 'plan' : 'watched plan';
  if (outcome !== undefined) return `${plan}: over`;
  return asks.length === 0 ? plan : `${plan}: ${counted(asks.length, 'question')}`;
}

/** The cursor stays once a person moved it, or a question is there; until then it is on the first row. */
function placedPlan(state: PlanState, view: PlanView): PlanState {
  const { page, opened } = state;
  if (page.is !== 'overview' && page.is !== 'ask') return state;
  const isWaitingForNext = view.asks.length === 0 || view.asks.some(({ key }) => key === state.answered);
  if (page.is === 'overview' && isWaitingForNext) return state;
  const ask = page.is === 'ask' ? askAt(view, page.ask) : undefined;
  const rows =
    page.is === 'overview' ? rowsOf(view, opened, page.list) : ask === undefined ? [] : askRowsOf(ask);
  const list = placed(page.list, keysOfRows(rows));
  return list === page.list ? state : { ...state, page: { ...page, list } };
}

type Answering = PlanEffect & { readonly type: 'answer' };

/** Gives the answer to all who still ask for it, and says what became of it. */
async function giveAnswer(
  port: PlanPort,
  { ask: key, lanes, act, needs, text }: Answering,
  enter: PlanScreenOptions['enter'],
): Promise<string> {
  const secret =
    needs?.what === 'secret'
      ? await enter({ prompt: needs.prompt, twice: needs.twice, least: needs.least })
      : undefined;
  // The question may have been answered or withdrawn since the key was pressed.
  const ask = askAt(port.view(), key);
  if (ask === undefined) return 'it is no longer asked: nothing was answered';
  const asking = stillAsking(ask, lanes);
  if (act.do === 'wake') {
    for (const { runId } of asking) if (runId !== undefined) port.wake(runId);
    return `tried again: ${counted(asking.length, 'instance')}`;
  }
  if (act.do !== 'answer') return '';
  const answer = {
    event: act.event,
    ...(act.id === undefined ? {} : { id: act.id }),
    ...(needs === undefined || needs.what === 'secret' ? {} : { [FIELDS[needs.what]]: text }),
    ...(secret === undefined ? {} : { secret }),
  };
  if (ask.of.is === 'plan') {
    await port.answerPlan(answer);
    return 'answered';
  }
  const given = await Promise.allSettled(asking.map(({ runId = '' }) => port.answer(runId, answer)));
  const refused = given.flatMap((one) => (one.status === 'rejected' ? [wordsOf(one.reason)] : []));
  if (refused.length === 0) return `answered for ${counted(asking.length, 'instance')}`;
  return `${refused.length} of ${asking.length} did not take the answer: ${refused[0] ?? ''}`;
}

const FIELDS = { name: 'typed', reason: 'text', evidence: 'text', text: 'text', time: 'time' } as const;

function stillAsking(ask: AskView, lanes: readonly AskingLane[]): readonly AskingLane[] {
  const wanted = new Set(lanes.map(({ runId }) => runId));
  return ask.lanes.filter(({ runId }) => runId !== undefined && wanted.has(runId));
}

function wordsOf(thrown: unknown): string {
  const { shortMessage, hints } = failureOf(thrown);
  return [shortMessage, ...hints.slice(0, 1)].join('; ');
}

/** Whether letters are text: in a field, or where a question has only one. */
function isTyping(page: Page, view: PlanView): boolean {
  switch (page.is) {
    case 'typing':
      return true;
    case 'overview':
      return page.list.isFiltering;
    case 'ask':
      return typedOption(view, askAt(view, page.ask)) !== undefined;
    case 'lane':
      return false;
  }
}
