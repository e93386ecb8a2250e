import { type Markup, markup, NOTHING } from '../../report/render/markup.ts';
import { countWords, lanesWords } from '../models/plan-page.ts';
import type { PageOf, PlanGroup, PlanLane } from '../page.ts';
import {
  asksPart,
  changesPart,
  clocksPart,
  followUpsPart,
  LANE_HEAD,
  LANE_MARKS,
  laneRow,
  section,
  table,
  when,
  words,
} from './parts.ts';
import { type Delivery, shell } from './shell.ts';

/** Lanes listed on the page of a plan, over all groups, and on a page of a group. */
const LISTED = 20;
const LANES_A_PAGE = 50;
/** Lanes drawn as marks, over all groups. */
const DRAWN = 600;

/** Each group with its lanes as marks, those that need a person first. */
export function renderPlan(page: PageOf<'page-plan'>, delivery: Delivery): string {
  const { run, groups, at } = page;
  const share = Math.max(3, Math.floor(LISTED / Math.max(1, groups.length)));
  const drawn = groups.reduce((sum, { lanes }) => sum + lanes.length, 0) <= DRAWN;
  const legend = Object.entries(LANE_MARKS)
    .map(([is, mark]) => `${mark} ${is}`)
    .join('  ');
  return shell(
    page,
    [
      clocksPart(page),
      asksPart(page),
      section(
        'now',
        'Now',
        markup`<p>Begun ${when(run.startedAt, at)}. <a href="/runs/${encodeURIComponent(run.runId)}/report">Report</a></p>${drawn ? markup`<p class="dim">${legend}</p>` : NOTHING}`,
      ),
      ...groups.map((group) => groupPart(group, { runId: run.runId, at, share, drawn })),
      followUpsPart(page),
      changesPart(page),
    ],
    delivery,
  );
}

interface Room {
  readonly runId: string;
  readonly at: string;
  readonly share: number;
  readonly drawn: boolean;
}

function groupPart(group: PlanGroup, { runId, at, share, drawn }: Room): Markup {
  const { id, words: state, tone, wave, counts, firstFailure, lanes } = group;
  const shown = lanes.filter(isWorthSeeing).toSorted(byUrgency).slice(0, share);
  const waves = wave.of > 1 ? `, wave ${wave.at} of ${wave.of}` : '';
  const all = `/runs/${encodeURIComponent(runId)}/groups/${encodeURIComponent(id)}`;
  const marks = drawn
    ? markup`<p class="lanes" role="img" aria-label="${countWords(counts)}">${lanes.map(({ is }) => LANE_MARKS[is]).join('')}</p>`
    : NOTHING;
  const failure =
    firstFailure === undefined
      ? NOTHING
      : markup`<p class="bad"><b>first failure: </b>${words(firstFailure)}</p>`;
  const rows = shown.map((lane) => laneRow(lane, at));
  const listed =
    rows.length === 0
      ? NOTHING
      : table(`g-${id}`, `${id}: ${rows.length} of ${lanesWords(group)}`, LANE_HEAD, rows, share);
  return section(
    `group-${id}`,
    `${id}: ${countWords(counts)}`,
    markup`<p class="${tone}"><b>${state}</b>${waves}. <a href="${all}">${id}: all ${lanesWords(group)}</a></p>${failure}${marks}${listed}`,
  );
}

/** At work, or in need of a person; other lanes are only counted. */
function isWorthSeeing({ is }: PlanLane): boolean {
  return is !== 'done' && is !== 'later' && is !== 'not-run';
}

const URGENCY: readonly PlanLane['is'][] = [
  'failing',
  'failed',
  'waiting',
  'answered',
  'at-work',
  'left',
  'out',
  'ready',
  'stopped',
];

function byUrgency(one: PlanLane, other: PlanLane): number {
  return URGENCY.indexOf(one.is) - URGENCY.indexOf(other.is);
}

export function renderGroup(
  page: PageOf<'page-plan'>,
  group: PlanGroup,
  from: number,
  delivery: Delivery,
): string {
  const { id, lanes, counts } = group;
  const { runId } = page.run;
  const rows = lanes.slice(from, from + LANES_A_PAGE).map((lane) => laneRow(lane, page.at));
  const here = `/runs/${encodeURIComponent(runId)}/groups/${encodeURIComponent(id)}`;
  const turn = [
    ...(from === 0 ? [] : [markup`<a href="${here}?from=${Math.max(0, from - LANES_A_PAGE)}">Before</a> `]),
    ...(from + LANES_A_PAGE >= lanes.length
      ? []
      : [markup`<a href="${here}?from=${from + LANES_A_PAGE}">Next</a>`]),
  ];
  const caption = `${from + 1} to ${from + rows.length} of ${lanes.length}`;
  return shell(
    page,
    [
      section(
        'group',
        `${id}: ${countWords(counts)}`,
        markup`<p><a href="/runs/${encodeURIComponent(runId)}">The whole plan</a></p>${table('lanes', caption, LANE_HEAD, rows, LANES_A_PAGE)}<p>${turn}</p>`,
      ),
    ],
    delivery,
  );
}
