import { formatSeconds } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { SLICES } from '../measure/slices.ts';
import type { Course, Mark } from '../model/model-rows.ts';
import { type Bars, time } from './document.ts';
import { type Markup, markup, NOTHING, readableText } from './markup.ts';

export const LEGEND: readonly (readonly [string, string])[] = [
  ['decide', 'decide: until the change could be sent'],
  ['queue', 'queue: the service had not begun'],
  ['execute', 'execute: the service at work'],
  ['human', 'human: waiting for a person'],
  ['rebind', 'rebind: until the applications ran again'],
  ['work', 'other steps'],
];

const LANE = 26;
const GAP = 8;
const TOP = 26;

interface Bar {
  readonly name: string;
  readonly from: string;
  readonly until: string;
  readonly label: string;
}

/** Slices, waits, steps, tasks and moments over one axis of time, with the limit if it is near. */
export function courseSvg(course: Course, caption: string): Markup {
  const scale = scaleFor(course);
  const lanes = lanesOf(course);
  const marks = markParts(course.marks, scale, TOP + lanes.length * (LANE + GAP));
  const bottom = TOP + lanes.length * (LANE + GAP) + marks.height;
  const height = bottom + 26;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="course-title course-desc">
<title id="course-title">The course of the run over time</title>
<desc id="course-desc">${caption} The tables below say the same.</desc>
${ticks(scale).map(({ ms, text }) => tick(scale, ms, text, bottom))}${lanes.map(({ title, bars }, at) => lane(title, bars, scale, TOP + at * (LANE + GAP)))}${marks.svg}${limitLine(course, scale, bottom)}
<text class="mute" x="0" y="${height - 6}">0 is ${time(course.from)} UTC</text>
</svg>`;
}

/** From the beginning to the end, or to the limit if that is not much later. */
export function scaleFor(
  { from, until, limitAt }: Pick<Course, 'from' | 'until' | 'limitAt'>,
  left = LEFT,
): Scale {
  const [start, end] = [msOf(from), msOf(until)];
  const limit = limitAt === undefined ? end : msOf(limitAt);
  const near = limit > end && limit - start <= (end - start) * 1.5;
  return scaleOf(start, near ? limit + (limit - start) * 0.02 : end, left);
}

function lanesOf({ slices, steps, tasks }: Course): { title: string; bars: Bar[] }[] {
  const waits = steps.filter((step) => step.waits);
  const works = steps.filter((step) => !step.waits);
  const lanes = [
    {
      title: 'Slices',
      bars: slices.map(({ slice, from, until }) => ({ name: slice, from, until, label: slice })),
    },
    {
      title: 'People',
      bars: waits.map(({ from, until, title }) => ({ name: 'human', from, until, label: title })),
    },
    {
      title: 'Steps',
      bars: works.map(({ from, until, title, slice }) => ({
        name: slice ?? 'work',
        from,
        until,
        label: title,
      })),
    },
    {
      title: 'Service',
      bars: tasks.map(({ what, kind, from, until }) => ({
        name: kind,
        from,
        until,
        label: `${what}: ${kind}`,
      })),
    },
  ];
  return lanes.filter(({ bars }) => bars.length > 0);
}

function lane(title: string, bars: readonly Bar[], scale: Scale, y: number): Markup {
  return markup`<text x="0" y="${y + 17}">${title}</text>
<rect class="lane" x="${LEFT}" y="${y}" width="${WIDTH - LEFT}" height="${LANE}"/>
${bars.map((one) => bar(one, scale, y))}`;
}

function bar({ name, from, until, label }: Bar, scale: Scale, y: number): Markup {
  const [start, end] = [msOf(from), msOf(until)];
  const x = scale.x(start);
  // A thin gap between neighbours, so that steps of one colour stay apart.
  const width = Math.max(1.5, scale.x(end) - x - 0.8);
  const took = formatSeconds(Math.max(0, end - start) / 1000);
  const full = `${label}, ${took}`;
  const text = [full, label, took].find((one) => fits(one, width));
  const words =
    text === undefined
      ? NOTHING
      : markup`<text class="on" x="${round(x + 5)}" y="${y + 17}">${readableText(text)}</text>`;
  return markup`<g><title>${readableText(full)}</title><rect class="b-${name}" x="${round(x)}" y="${y + 2}" width="${round(width)}" height="${LANE - 4}" rx="1.5"/>${words}</g>\n`;
}

export function tick(scale: Scale, ms: number, text: string, bottom: number): Markup {
  const x = round(scale.x(ms));
  const anchor = x > WIDTH - 40 ? 'end' : ms === scale.fromMs ? 'start' : 'middle';
  return markup`<line class="grid" x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${bottom}"/><text class="mute" x="${x}" y="14" text-anchor="${anchor}">${text}</text>\n`;
}

/** A line where the limit is on the picture, else a text. */
export function limitLine(
  { from, limitAt }: Pick<Course, 'from' | 'limitAt'>,
  scale: Scale,
  bottom: number,
): Markup {
  if (limitAt === undefined) return NOTHING;
  const limit = msOf(limitAt);
  const words = `limit ${formatSeconds((limit - msOf(from)) / 1000)}`;
  const y = bottom + 20;
  if (limit > scale.untilMs) {
    return markup`<text class="mute" x="${WIDTH - 4}" y="${y}" text-anchor="end">${words}: beyond the right edge</text>`;
  }
  const x = round(scale.x(limit));
  const anchor = x > WIDTH / 2 ? 'end' : 'start';
  return markup`<line class="limit" x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${bottom + 6}"/><text class="limit-text" x="${anchor === 'end' ? x - 4 : x + 4}" y="${y}" text-anchor="${anchor}">${words}</text>`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const ROW = 20;
const ROWS = 5;
const RADIUS = 8.5;

/**
 * Numbered as in the table, each in the first row where it touches no other circle; if all rows are full,
 * only its stem is drawn.
 */
function markParts(
  marks: readonly Mark[],
  scale: Scale,
  top: number,
): { readonly svg: Markup; readonly height: number } {
  if (marks.length === 0) return { svg: NOTHING, height: 0 };
  const ends: number[] = [];
  const parts = marks.map(({ at, kind, text }, index) => {
    const x = Math.max(LEFT + RADIUS, Math.round(scale.x(msOf(at)) * 10) / 10);
    const free = Array.from({ length: ROWS }, (_, row) => row).find((row) => (ends[row] ?? 0) <= x - RADIUS);
    const title = markup`<title>${readableText(`${index + 1}: ${kind}: ${text}`)}</title>`;
    const loud =
      kind === 'break-glass' || kind === 'trouble' || kind === 'doubt' ? markup` class="loud"` : NOTHING;
    if (free === undefined) {
      return markup`<g${loud}>${title}<line class="stem" x1="${x}" y1="${top}" x2="${x}" y2="${top + 5}"/></g>\n`;
    }
    ends[free] = x + RADIUS + 1;
    const y = top + 12 + free * ROW;
    return markup`<g${loud}>${title}<line class="stem" x1="${x}" y1="${top}" x2="${x}" y2="${y - RADIUS}"/><circle class="mark" cx="${x}" cy="${y}" r="${RADIUS}"/><text x="${x}" y="${y + 3.5}" text-anchor="middle" font-size="9.5">${index + 1}</text></g>\n`;
  });
  const height = 12 + ends.length * ROW;
  return { svg: markup`<text x="0" y="${top + 16}">Moments</text>\n${parts}`, height };
}

const BAR_LANE = 34;
const BAR_HEIGHT = 24;

/** One run below the other, their slices end to end, all to one scale. */
export function barsSvg(runs: readonly Bars[], caption: string): Markup {
  const longest = Math.max(...runs.map(({ slices }) => total(slices)), 0.001);
  const unit = (WIDTH - LEFT - 80) / longest;
  const height = runs.length * BAR_LANE + 6;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="bars-title bars-desc">
<title id="bars-title">The recovery times of the runs in slices</title>
<desc id="bars-desc">${caption} The table says the same.</desc>
${runs.map((run, at) => row(run, unit, at * BAR_LANE + 4))}</svg>`;
}

function row({ label, slices }: Bars, unit: number, y: number): Markup {
  let x = LEFT;
  const parts = SLICES.map((slice) => {
    const value = slices[slice] ?? 0;
    const width = value * unit;
    const words = [`${slice} ${formatSeconds(value)}`, slice].find((one) => fits(one, width));
    const text =
      words === undefined
        ? NOTHING
        : markup`<text class="on" x="${round(x + 5)}" y="${y + 16}">${words}</text>`;
    const part =
      value <= 0
        ? NOTHING
        : markup`<g><title>${slice} ${formatSeconds(value)}</title><rect class="b-${slice}" x="${round(x)}" y="${y}" width="${round(Math.max(1.5, width))}" height="${BAR_HEIGHT}" rx="1.5"/>${text}</g>\n`;
    x += width;
    return part;
  });
  const end = markup`<text class="mute" x="${round(x + 6)}" y="${y + 16}">${formatSeconds(total(slices))}</text>`;
  return markup`<text x="0" y="${y + 16}">${label}</text>\n${parts}${end}\n`;
}

function total(slices: Bars['slices']): number {
  return SLICES.reduce((sum, slice) => sum + (slices[slice] ?? 0), 0);
}

/** The picture's own units. */
export const WIDTH = 1000;
const LEFT = 92;
const RIGHT = 14;

export interface Scale {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Never outside the picture. */
  x(ms: number): number;
}

function scaleOf(fromMs: number, untilMs: number, left: number): Scale {
  const end = Math.max(untilMs, fromMs + 1);
  const width = WIDTH - left - RIGHT;
  const x = (ms: number) => left + (width * (Math.min(end, Math.max(fromMs, ms)) - fromMs)) / (end - fromMs);
  return { fromMs, untilMs: end, x };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** At most nine round moments after the start, labelled with their distance from it. */
export function ticks({ fromMs, untilMs }: Scale): { readonly ms: number; readonly text: string }[] {
  const span = untilMs - fromMs;
  const step = STEPS.find((one) => span / one <= 9) ?? span;
  const count = Math.floor(span / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => ({ ms: fromMs + at * step, text: words(at * step) }));
}

function words(ms: number): string {
  if (ms === 0) return '0';
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(3))} s`;
  if (ms < HOUR) return joined(ms, MINUTE, 'min', SECOND, 's');
  return ms < 2 * DAY ? joined(ms, HOUR, 'h', MINUTE, 'min') : joined(ms, DAY, 'd', HOUR, 'h');
}

function joined(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.round((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeUnit}${rest === 0 ? '' : ` ${rest} ${smallUnit}`}`;
}

/** Whether a text surely fits, by a generous width of its letters. */
export function fits(text: string, width: number): boolean {
  return Array.from(text).length * 7 + 8 <= width;
}
