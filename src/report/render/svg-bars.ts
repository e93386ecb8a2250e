import { formatSeconds } from '../../base/format.ts';
import { SLICES } from '../measure/slices.ts';
import type { Bars } from './document.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { fits, LEFT, WIDTH } from './svg-scale.ts';

const LANE = 34;
const BAR = 24;

/** Runs under each other, their slices end to end, all to one scale. */
export function barsSvg(runs: readonly Bars[], caption: string): Markup {
  const longest = Math.max(...runs.map(({ slices }) => total(slices)), 0.001);
  const unit = (WIDTH - LEFT - 80) / longest;
  const height = runs.length * LANE + 6;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="bars-title bars-desc">
<title id="bars-title">The recovery times of the runs in slices</title>
<desc id="bars-desc">${caption} The table says the same.</desc>
${runs.map((run, at) => row(run, unit, at * LANE + 4))}</svg>`;
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
        : markup`<g><title>${slice} ${formatSeconds(value)}</title><rect class="b-${slice}" x="${round(x)}" y="${y}" width="${round(Math.max(1.5, width))}" height="${BAR}" rx="1.5"/>${text}</g>\n`;
    x += width;
    return part;
  });
  const end = markup`<text class="mute" x="${round(x + 6)}" y="${y + 16}">${formatSeconds(total(slices))}</text>`;
  return markup`<text x="0" y="${y + 16}">${label}</text>\n${parts}${end}\n`;
}

function total(slices: Bars['slices']): number {
  return SLICES.reduce((sum, slice) => sum + (slices[slice] ?? 0), 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
