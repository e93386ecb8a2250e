import { formatSeconds } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { type Gantt, type GanttRow, time } from './document.ts';
import { type Markup, markup, NOTHING, readableText } from './markup.ts';
import { fits, limitLine, round, type Scale, scaleFor, tick, ticks, WIDTH } from './svg.ts';

export const GANTT_LEGEND: readonly (readonly [string, string])[] = [
  ['execute', 'a group, from its begin to its end'],
  ['work', 'a wave'],
  ['human', 'waiting for a person'],
  ['queue', 'an instance in it failed, or was not run'],
];

const LANE = 24;
const GAP = 5;
const TOP = 26;
const LEFT = 190;
/** Letters of a title that surely fit beside the bars. */
const LONGEST = 26;

/** Groups and waves over one axis of time, with the limit if it is near. */
export function ganttSvg(gantt: Gantt, caption: string): Markup {
  const scale = scaleFor(gantt, LEFT);
  const bottom = TOP + gantt.rows.length * (LANE + GAP);
  const height = bottom + 26;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="gantt-title gantt-desc">
<title id="gantt-title">The groups and waves of the plan over time</title>
<desc id="gantt-desc">${caption} The table below says the same.</desc>
${ticks(scale).map(({ ms, text }) => tick(scale, ms, text, bottom))}${gantt.rows.map((one, at) => row(one, scale, TOP + at * (LANE + GAP)))}${limitLine(gantt, scale, bottom)}
<text class="mute" x="0" y="${height - 6}">0 is ${time(gantt.from)} UTC</text>
</svg>`;
}

function row({ title, bars }: GanttRow, scale: Scale, y: number): Markup {
  const cut =
    Array.from(title).length > LONGEST
      ? `${Array.from(title)
          .slice(0, LONGEST - 1)
          .join('')}…`
      : title;
  return markup`<text x="0" y="${y + 16}">${readableText(cut)}</text>
<rect class="lane" x="${LEFT}" y="${y}" width="${WIDTH - LEFT}" height="${LANE}"/>
${bars.map((one) => bar(one, scale, y))}`;
}

function bar({ tone, from, until, label }: GanttRow['bars'][number], scale: Scale, y: number): Markup {
  const [start, end] = [msOf(from), msOf(until)];
  const x = scale.x(start);
  const width = Math.max(1.5, scale.x(end) - x - 0.8);
  const full = `${label}, ${formatSeconds(Math.max(0, end - start) / 1000)}`;
  const text = [full, label].find((one) => fits(one, width));
  const words =
    text === undefined
      ? NOTHING
      : markup`<text class="on" x="${round(x + 5)}" y="${y + 16}">${readableText(text)}</text>`;
  return markup`<g><title>${readableText(full)}</title><rect class="b-${tone}" x="${round(x)}" y="${y + 2}" width="${round(width)}" height="${LANE - 4}" rx="1.5"/>${words}</g>\n`;
}
