import { assign, setup } from 'xstate';
import { FINALLY, HEALTHY, type PlanInput } from './parts/plan.ts';
import type { GroupResult, LaneFacts, PlanEvent } from './parts/plan-events.ts';
import { afterEvent, type GroupData, NEW_GROUP } from './parts/plan-events.ts';
import type { OperatorEvent } from './parts/question.ts';
import type { StateMeta, StateTag } from './parts/runbook.ts';
import { askApproval, askNotReady, askToConfirm, confirmsNext } from './plan-questions.ts';

/** The plan itself never changes; people's decisions about its groups do. */
export interface PlanContext {
  readonly input: PlanInput;
  readonly source: 'up' | 'down';
  readonly lanes: readonly LaneFacts[];
  readonly approved: number;
  readonly confirmed: readonly string[];
  readonly groups: Readonly<Record<string, GroupData>>;
  readonly stopped?: string | undefined;
  readonly results: readonly GroupResult[];
}

const plan = setup({
  types: {
    context: {} as PlanContext,
    events: {} as PlanEvent,
    input: {} as PlanInput,
    tags: {} as StateTag,
    meta: {} as StateMeta<PlanContext, OperatorEvent>,
  },
  guards: {
    isOfGroup: ({ event }, id: string) => 'group' in event && event.group === id,
    isEnd: ({ event }, { id, how }: { id: string; how: string }) =>
      event.type === 'group.ended' && event.group === id && event.how === how,
    hasProblem: ({ context, event }) =>
      lanesAfter(context, event).some(({ problem }) => problem !== undefined),
    needsApproval: ({ context }) => context.input.plan.approve !== undefined,
    isLastApproval: ({ context }) => context.approved + 1 >= (context.input.plan.approve?.quorum ?? 1),
    stopsOnExpiry: ({ context }) => context.input.plan.approve?.onExpiry === 'stop',
    isLastName: ({ context, event }) => confirmsNext(context, event)?.isLast === true,
    isName: ({ context, event }) => confirmsNext(context, event) !== undefined,
    needsNoName: ({ context }) => confirmsNext(context, undefined) === undefined,
    isStopped: ({ context }) => context.stopped !== undefined,
    isProven: ({ context, event }) =>
      event.type === 'plan.recorded' &&
      event.results.every(({ failed, notRun }) => failed + notRun === 0) &&
      Object.values(context.groups).every(isProven),
  },
  actions: {
    keepGroup: assign(({ context, event }) => {
      if (!('group' in event)) return {};
      const data = context.groups[event.group] ?? NEW_GROUP;
      return { groups: { ...context.groups, [event.group]: afterEvent(data, event) } };
    }),
    keepLanes: assign(({ context, event }) => ({ lanes: lanesAfter(context, event) })),
    leaveOut: assign(({ context, event }) =>
      event.type === 'operator.leaveOut' ? leftOut(context, event.text) : {},
    ),
    countApproval: assign(({ context }) => ({ approved: context.approved + 1 })),
    forgetApprovals: assign({ approved: 0 }),
    keepExpiry: assign({ stopped: 'nobody approved it in time' }),
    keepName: assign(({ context, event }) => {
      const next = confirmsNext(context, event);
      return next === undefined ? {} : { confirmed: [...context.confirmed, next.group] };
    }),
    keepSource: assign(({ event }) => (event.type === 'operator.setSource' ? { source: event.source } : {})),
    keepResults: assign(({ event }) => (event.type === 'plan.recorded' ? { results: event.results } : {})),
    keepStop: assign(({ event }) =>
      event.type === 'operator.stop' ? { stopped: event.text ?? 'a person stopped it' } : {},
    ),
  },
});

/** Those of the evaluation under way, with those that an event brings. */
function lanesAfter({ lanes }: PlanContext, event: PlanEvent): readonly LaneFacts[] {
  if (event.type !== 'plan.looked' && event.type !== 'plan.evaluated') return lanes;
  return [...lanes.slice(0, event.from ?? 0), ...event.lanes];
}

/** Without decisions of people. */
function isProven({ ended, accepted, out, passed }: GroupData): boolean {
  const byPeople = accepted.length + Object.keys(out).length + Object.keys(passed).length;
  return ended === 'done' && byPeople === 0;
}

function leftOut({ lanes, groups }: PlanContext, text: string): Pick<PlanContext, 'groups'> {
  let left = groups;
  for (const { group, lane, problem } of lanes) {
    if (problem === undefined) continue;
    const data = left[group] ?? NEW_GROUP;
    left = { ...left, [group]: { ...data, out: { ...data.out, [lane]: text } } };
  }
  return { groups: left };
}

/** A region of its own, which waits, runs and stops without the others. */
function group(id: string) {
  const mine = { type: 'isOfGroup' as const, params: id };
  const keep = { guard: mine, actions: 'keepGroup' as const };
  const end = (how: 'done' | 'stopped' | 'not-run') => ({ type: 'isEnd' as const, params: { id, how } });
  return plan.createStateConfig({
    initial: 'waiting',
    meta: { title: id },
    on: {
      'operator.takeOut': keep,
      'operator.takeUp': keep,
      'operator.tryAgain': keep,
      'operator.skipStep': keep,
      'operator.doneOutside': keep,
    },
    states: {
      waiting: {
        meta: { title: 'waits for other groups' },
        on: {
          'group.begun': { guard: mine, target: 'running' },
          'group.ended': { guard: end('not-run'), target: 'notRun', actions: 'keepGroup' },
          'operator.stopGroup': { guard: mine, target: 'stopping' },
          'operator.stop': { target: 'stopping', actions: 'keepStop' },
        },
      },
      running: {
        meta: { title: 'runs' },
        on: {
          'wave.begun': keep,
          'group.held': { ...keep, target: 'held' },
          'group.stopping': { guard: mine, target: 'stopping' },
          'group.ended': { guard: end('done'), target: 'done', actions: 'keepGroup' },
          'operator.pauseGroup': { ...keep, target: 'held' },
          'operator.stopGroup': { guard: mine, target: 'stopping' },
          'operator.stop': { target: 'stopping', actions: 'keepStop' },
        },
      },
      held: {
        meta: { title: 'waits for a person' },
        on: {
          'operator.resumeGroup': { ...keep, target: 'running' },
          'group.stopping': { guard: mine, target: 'stopping' },
          'operator.stopGroup': { guard: mine, target: 'stopping' },
          'operator.stop': { target: 'stopping', actions: 'keepStop' },
        },
      },
      stopping: {
        meta: { title: 'stops when what is under way has ended' },
        on: { 'group.ended': { guard: end('stopped'), target: 'stopped', actions: 'keepGroup' } },
      },
      done: { type: 'final', meta: { title: 'is done' } },
      stopped: { type: 'final', meta: { title: 'was stopped' } },
      notRun: { type: 'final', meta: { title: 'was not run' } },
    },
  });
}

/** Over when all regions have ended. */
function regions(
  title: string,
  ids: readonly string[],
  onDone: string | readonly { guard?: 'isStopped'; target: string }[],
) {
  return plan.createStateConfig({
    type: 'parallel',
    meta: { title },
    states: Object.fromEntries(ids.map((id) => [id, group(id)])),
    onDone: onDone as string,
  });
}

/**
 * Performs nothing: its children do, and their results come as events. Each group is a region, so the machine
 * is made for the plan of the run.
 */
export function planMachine(groups: readonly string[]) {
  const stop = { target: 'stopped', actions: 'keepStop' } as const;
  return plan.createMachine({
    id: 'plan',
    context: ({ input }) => begin(input),
    initial: 'evaluate',
    on: { 'operator.setSource': { actions: 'keepSource' }, 'operator.stop': { actions: 'keepStop' } },
    states: {
      evaluate: {
        meta: { title: 'evaluate the instances' },
        initial: 'looking',
        states: {
          looking: {
            meta: { title: 'looking at every instance and target' },
            on: {
              'plan.looked': { actions: 'keepLanes' },
              'plan.evaluated': [
                { guard: 'hasProblem', target: 'notReady', actions: 'keepLanes' },
                { target: 'ready', actions: 'keepLanes' },
              ],
              'operator.stop': { ...stop, target: '#plan.stopped' },
            },
          },
          notReady: {
            tags: 'question',
            meta: { title: 'some could not be recovered now', question: askNotReady },
            on: {
              'operator.evaluateAgain': 'looking',
              'operator.leaveOut': { target: 'ready', actions: 'leaveOut' },
              'operator.goOnRegardless': 'ready',
              'operator.stop': { ...stop, target: '#plan.stopped' },
            },
          },
          ready: { type: 'final', meta: { title: 'evaluated' } },
        },
        onDone: [
          { guard: 'needsApproval', target: 'approve' },
          { guard: 'needsNoName', target: 'groups' },
          { target: 'confirm' },
        ],
      },
      approve: {
        meta: { title: 'have it approved' },
        initial: 'asked',
        states: {
          asked: {
            tags: 'question',
            meta: { title: 'waits for approval', question: askApproval },
            on: {
              'operator.confirm': [
                { guard: 'isLastApproval', target: 'given', actions: 'countApproval' },
                { target: 'asked', reenter: true, actions: 'countApproval' },
              ],
              'approval.expired': [
                { guard: 'stopsOnExpiry', target: '#plan.stopped', actions: 'keepExpiry' },
                { target: 'asked', reenter: true },
              ],
              // The approvals so far are for another plan.
              'operator.setSource': {
                target: 'asked',
                reenter: true,
                actions: ['keepSource', 'forgetApprovals'],
              },
              'operator.stop': { ...stop, target: '#plan.stopped' },
            },
          },
          given: { type: 'final', meta: { title: 'approved' } },
        },
        onDone: [{ guard: 'needsNoName', target: 'groups' }, { target: 'confirm' }],
      },
      confirm: {
        tags: 'question',
        meta: { title: 'confirm each group by name', question: askToConfirm },
        on: {
          'operator.confirm': [
            { guard: 'isLastName', target: 'groups', actions: 'keepName' },
            { guard: 'isName', actions: 'keepName' },
          ],
          'operator.stop': stop,
        },
      },
      groups: regions('recover group by group', groups, [
        { guard: 'isStopped', target: 'finally' },
        { target: 'healthy' },
      ]),
      healthy: regions('check that it is healthy', [HEALTHY], 'finally'),
      finally: regions('clean up and tell people', [FINALLY], 'record'),
      record: {
        meta: { title: 'record it' },
        on: {
          'plan.recorded': [
            { guard: 'isStopped', target: 'stopped', actions: 'keepResults' },
            { guard: 'isProven', target: 'done', actions: 'keepResults' },
            { target: 'unproven', actions: 'keepResults' },
          ],
        },
      },
      done: { type: 'final', tags: 'done', meta: { title: 'closed: done' } },
      unproven: { type: 'final', tags: 'done', meta: { title: 'closed without proof' } },
      stopped: { type: 'final', tags: 'done', meta: { title: 'stopped' } },
    },
  });
}

/** XState also computes the initial state without an input, and drops the error. */
const NO_INPUT = new TypeError('the run of a plan begins with an input');

function begin(input: PlanInput): PlanContext {
  if (input === undefined) throw NO_INPUT;
  return { input, source: input.source, lanes: [], approved: 0, confirmed: [], groups: {}, results: [] };
}
