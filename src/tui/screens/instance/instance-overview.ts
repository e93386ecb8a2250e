import type { DetailGroup } from '../../../view/app/sources.ts';
import { whyUnknown } from '../../../view/fleet/fleet-facts.ts';
import { band, filledUp, GAP, type Layout, WIDE, wall } from '../../bands.ts';
import { cutLine, lineWidth, padLine, ruleLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { askedOf, factsBelow, verdictLines } from '../board/board-detail.ts';
import { statusOf } from './instance-state.ts';

/** The overview: whether it could be recovered, and what the instance says of itself. */
export function layOutOverview(
  name: string,
  scroll: number,
  around: Around,
  { width, height }: { readonly width: number; readonly height: number },
  look: Look,
): Layout {
  const { facts, now } = around;
  const fleet = facts.get('fleet', null);
  const asked = askedOf(fleet, now);
  const status = statusOf(name, around);
  const fact = facts.get('instance', name);
  const failed = (wide: number) =>
    fact.part.state === 'failed'
      ? [
          ...wrapLine(
            [span(`${look.glyphs.warn} it could not be asked: ${fact.part.why}`, 'status.bad')],
            wide,
            2,
          ),
          ...(fact.part.hints ?? []).flatMap((hint) => wrapLine([span(`  ${hint}`)], wide, 2)),
        ]
      : [];
  const verdict = (wide: number) =>
    status === undefined
      ? []
      : [
          ruleLine('could it be recovered now?', wide, look, 'accent'),
          ...verdictLines(status, asked, wide, look),
          BLANK,
          ...factsBelow(status, asked, wide),
        ];
  const groups = (wide: number) =>
    (fact.last?.value.groups ?? []).map((group) => groupLines(group, wide, look));
  if (width < WIDE) {
    const lines = [...failed(width), ...joined([verdict(width), ...groups(width)])];
    const { shown, last } = window(lines, scroll, width, height, look);
    return {
      page: { height: Math.max(1, height - 1), last },
      bands: [band(filledUp(shown, height), width, height)],
    };
  }
  const left = Math.floor((width - GAP) / 2);
  const right = width - GAP - left;
  const one = window([...failed(left), ...joined([verdict(left)])], scroll, left, height, look);
  const other = window(joined(groups(right)), scroll, right, height, look);
  const panes = [
    { width: left, height, lines: filledUp(one.shown, height) },
    wall(height, look),
    { width: right, height, lines: filledUp(other.shown, height) },
  ];
  return {
    page: { height: Math.max(1, height - 1), last: Math.max(one.last, other.last) },
    bands: [{ height, panes }],
  };
}

function groupLines({ title, rows }: DetailGroup, width: number, look: Look): readonly Line[] {
  const head = ruleLine(title, width, look, 'accent');
  const why = whyUnknown(rows);
  if (rows.state !== 'known') {
    const hints = rows.state === 'failed' ? (rows.hints ?? []) : [];
    return [
      head,
      ...wrapLine([span(why ?? '', rows.state === 'failed' ? 'status.warn' : 'text.dim')], width),
      ...hints.flatMap((hint) => wrapLine([span(`  ${hint}`, 'text.dim')], width, 2)),
    ];
  }
  const wide = Math.min(
    Math.floor(width / 2),
    Math.max(0, ...rows.value.map(([label]) => lineWidth([span(label)]))) + 2,
  );
  return [
    head,
    ...rows.value.flatMap(([label, value]) =>
      wrapLine([span(value)], width - wide).map((row, at) => [
        ...padLine(cutLine([span(at === 0 ? label : '', 'text.dim')], wide - 1, look), wide),
        ...row,
      ]),
    ),
  ];
}

/** Blocks below each other, with a blank row between. */
function joined(blocks: readonly (readonly Line[])[]): readonly Line[] {
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, at) => (at === 0 ? block : [BLANK, ...block]));
}

/** A window onto lines; the last row says when there is more. */
function window(lines: readonly Line[], scroll: number, width: number, height: number, look: Look) {
  if (lines.length <= height) return { shown: lines, last: 0 };
  const room = Math.max(1, height - 1);
  const last = lines.length - room;
  const first = Math.min(scroll, last);
  const below = lines.length - first - room;
  const note = below > 0 ? `${look.glyphs.more} ${below} more: PgDn` : 'the end: PgUp goes back';
  return {
    shown: [...lines.slice(first, first + room), cutLine([span(note, 'text.dim')], width, look)],
    last,
  };
}
