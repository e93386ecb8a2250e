import type { ResolvedGroup } from '../../../machines/parts/plan.ts';
import { msOf } from '../../base/instant.ts';
import { type LaneFacts, planLanes, type WordedGroup } from './plan-lanes.ts';
import { lanesIn, type PlanMoment, wordIn } from './plan-moments.ts';
import { rpoOfLane, rpoOfLanes, rtoOfGroup } from './plan-objectives.ts';
import type { PlanGroup } from './plan-report.ts';

export interface GroupFacts extends LaneFacts {
  /** From when the recovery time counts. */
  readonly from: string;
}

/** A group of a plan's run: its waves, waits, instances and objectives. Pure. */
export function planGroup(worded: WordedGroup, facts: GroupFacts): PlanGroup {
  const { group, phase } = worded;
  const own = facts.moments.filter((moment) => wordIn(moment, 'group') === group.id);
  const begun = own.find(({ type }) => type === 'group.begun');
  const ended = own.find(({ type }) => type === 'group.ended');
  const children = facts.children.filter((child) => child.group === group.id);
  const lanes = planLanes(worded, facts).map((lane) => {
    const rpo = rpoOfLane(children.filter((child) => child.lane === lane.name));
    return rpo === undefined ? lane : { ...lane, rpo };
  });
  const { objectives } = facts.input.plan;
  const base = {
    id: group.id,
    about: group.about,
    phase,
    after: [...group.after],
    ended: ended === undefined ? undefined : (wordIn(ended, 'how') as PlanGroup['ended']),
    startedAt: begun?.at,
    endedAt: ended?.at,
    seconds:
      begun === undefined || ended === undefined ? undefined : (msOf(ended.at) - msOf(begun.at)) / 1000,
    waves: wavesOf(group, own, facts, ended?.at),
    held: heldOf(own, facts.until),
    lanes,
  };
  if (phase !== 'groups') return base;
  return { ...base, rto: rtoOfGroup(base, facts, objectives.rto), rpo: rpoOfLanes(children, objectives.rpo) };
}

function wavesOf(
  { sizes, lanes }: ResolvedGroup,
  own: readonly PlanMoment[],
  { children, until }: LaneFacts,
  groupEnd: string | undefined,
): PlanGroup['waves'] {
  const begun = own.filter(({ type }) => type === 'wave.begun');
  return begun.map(({ at, event }) => {
    const wave = Number(event['wave']);
    const first = sizes.slice(0, wave - 1).reduce((sum, size) => sum + size, 0);
    const names = lanes.slice(first, first + (sizes[wave - 1] ?? 0)).map(({ name }) => name);
    const runs = children.filter(
      (child) => child.group === wordIn({ event }, 'group') && names.includes(child.lane),
    );
    const open = runs.some(({ result }) => result === undefined);
    const last = runs
      .flatMap(({ endedAt }) => endedAt ?? [])
      .toSorted()
      .at(-1);
    return { wave, from: at, until: open ? (groupEnd ?? until) : (last ?? groupEnd ?? at), lanes: names };
  });
}

function heldOf(own: readonly PlanMoment[], until: string): PlanGroup['held'] {
  const spans: PlanGroup['held'] = [];
  let since: { readonly from: string; readonly why: string } | undefined;
  for (const moment of own) {
    const { at, type } = moment;
    if (HOLDS.has(type)) since ??= { from: at, why: whyHeld(moment) };
    else if (since !== undefined && GOES_ON.has(type)) {
      spans.push({ ...since, until: at });
      since = undefined;
    }
  }
  return since === undefined ? spans : [...spans, { ...since, until }];
}

const HOLDS: ReadonlySet<string> = new Set(['group.held', 'operator.pauseGroup']);
const GOES_ON: ReadonlySet<string> = new Set(['operator.resumeGroup', 'operator.stopGroup', 'group.ended']);

function whyHeld(moment: PlanMoment): string {
  const lanes = lanesIn(moment).join(', ');
  if (moment.type === 'operator.pauseGroup') return `paused: ${wordIn(moment, 'text')}`;
  switch (wordIn(moment, 'why')) {
    case 'promotion':
      return 'a person lets the next wave begin';
    case 'stop-rule':
      return `its stop rule: ${lanes} failed`;
    default:
      return `${lanes} failed`;
  }
}
