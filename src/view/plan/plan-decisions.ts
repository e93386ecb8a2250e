import type { Decision, GroupView, LaneView } from './plan-view.ts';

export interface Offer {
  readonly decision: Decision;
  /** Why it does not fit now, in one line. */
  readonly disabled: string | undefined;
}

/** On record for decisions without words. */
const BY_KEY = 'on the screen of the plan';

/** For a running group, and for a held one. */
export function pauseOrResume({ id, state, held }: GroupView): Offer {
  if (state !== 'held') {
    const event = { type: 'operator.pauseGroup', group: id, text: BY_KEY } as const;
    const disabled = state === 'running' ? undefined : `${id} does not run: ${STATES[state]}`;
    return { decision: { order: `pause ${id}`, event, needs: undefined }, disabled };
  }
  const event = { type: 'operator.resumeGroup', group: id } as const;
  const order =
    held?.why === 'promotion'
      ? `let the next wave of ${id} begin`
      : held?.why === 'person'
        ? `resume ${id}`
        : `let ${id} go on without what failed`;
  return { decision: { order, event, needs: undefined }, disabled: undefined };
}

/** Nothing new starts in the group. The person types its name. */
export function stopping({ id, state }: GroupView): Offer {
  const isOpen = state === 'waiting' || state === 'running' || state === 'held';
  return {
    decision: {
      order: `stop ${id}`,
      event: { type: 'operator.stopGroup', group: id, text: BY_KEY },
      needs: { what: 'name', prompt: `type ${id} to stop the group`, expected: id },
    },
    disabled: isOpen ? undefined : `${id} cannot be stopped: ${STATES[state]}`,
  };
}

export function outOrUp(group: GroupView, lane: LaneView): Offer {
  const base = { group: group.id, lane: lane.name };
  const disabled = overOf(group) ?? (lane.is === 'done' ? `${lane.shown} is done` : undefined);
  if (lane.is === 'out') {
    const event = { type: 'operator.takeUp', ...base } as const;
    return { decision: { order: `take ${lane.shown} up again`, event, needs: undefined }, disabled };
  }
  const order = `take ${lane.shown} out of ${group.id}`;
  const needs = { what: 'reason', prompt: `why is ${lane.shown} taken out?` } as const;
  return { decision: { order, event: { type: 'operator.takeOut', ...base, text: '' }, needs }, disabled };
}

/** For the step that a lane is at. */
export function aboutStep(
  group: GroupView,
  lane: LaneView,
): { readonly tryAgain: Offer; readonly skip: Offer; readonly doneOutside: Offer } {
  const step = group.steps[(lane.at ?? 1) - 1]?.id ?? '';
  const base = { group: group.id, lane: lane.name, step };
  const what = `${step} of ${lane.shown}`;
  const none = lane.at === undefined ? `${lane.shown} is at no step: it is ${lane.state}` : undefined;
  const open = lane.isOpen
    ? `${what} is under way: ${lane.ask === undefined ? 'it ends first' : 'answer what it asks'}`
    : undefined;
  const notOpen = overOf(group) ?? none ?? open;
  return {
    tryAgain: {
      decision: {
        order: `try ${what} again`,
        event: { type: 'operator.tryAgain', ...base },
        needs: undefined,
      },
      disabled: notOpen ?? (lane.is === 'failed' ? undefined : `${what} has not failed`),
    },
    skip: {
      decision: {
        order: `skip ${what}`,
        event: { type: 'operator.skipStep', ...base, text: '' },
        needs: { what: 'reason', prompt: `why is ${what} skipped?` },
      },
      disabled: notOpen,
    },
    doneOutside: {
      decision: {
        order: `mark ${what} as done outside`,
        event: { type: 'operator.doneOutside', ...base, text: '' },
        needs: { what: 'evidence', prompt: `what shows that ${what} was done?` },
      },
      disabled: notOpen,
    },
  };
}

/** Why no decision about the group is possible. */
function overOf({ id, state }: GroupView): string | undefined {
  const isOver = state === 'done' || state === 'stopped' || state === 'notRun';
  return isOver ? `${id} is over: ${STATES[state]}` : undefined;
}

const STATES: Readonly<Record<GroupView['state'], string>> = {
  waiting: 'it has not begun',
  running: 'it runs',
  held: 'it is held',
  stopping: 'it is stopping',
  done: 'it is done',
  stopped: 'it was stopped',
  notRun: 'it was not run',
};
