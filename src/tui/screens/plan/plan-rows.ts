import { timeOfDay } from '../../../base/date.ts';
import { formatSpan } from '../../../base/format.ts';
import { cells } from '../../../plain/width.ts';
import type { AskView, GroupView, LaneCounts, LaneView } from '../../../view/plan/plan-view.ts';
import { cutLine, lineWidth, padLine } from '../../line.ts';
import { type Line, type Look, type Span, span } from '../../span.ts';
import { tokenOf } from '../../theme.ts';
import type { Row } from './plan-state.ts';

/** How wide the columns of the lanes are that are drawn together. */
export interface LaneColumns {
  readonly name: number;
  readonly step: number;
  readonly state: number;
  readonly age: number;
}

/** From this many columns on, a lane shows its target and the name of its step. */
const ROOMY = 70;
/** From this many on, also for how long it has been there. */
const WITH_AGE = 90;

/** Columns for the lanes among the rows that are drawn; those that do not fit have no width. */
export function columnsFor(rows: readonly Row[], width: number, nowMs: number): LaneColumns {
  const lanes = rows.flatMap((row) => (row.is === 'lane' ? [row] : []));
  const widest = (texts: readonly string[], most: number) =>
    Math.min(most, Math.max(0, ...texts.map((text) => cells(span(text).text))));
  return {
    name: widest(
      lanes.map(({ lane }) => nameOf(lane, width)),
      Math.floor(width * 0.4),
    ),
    step: widest(
      lanes.map(({ group, lane }) => stepOf(group, lane, width)),
      Math.floor(width * 0.2),
    ),
    state: widest(
      lanes.map(({ lane }) => lane.state),
      18,
    ),
    age:
      width < WITH_AGE
        ? 0
        : widest(
            lanes.map(({ lane }) => ageOf(lane, nowMs)),
            12,
          ),
  };
}

/** A lane in one row: sign, name, step, state, age, and what it does or asks. */
export function laneLine(
  group: GroupView,
  lane: LaneView,
  columns: LaneColumns,
  { width, nowMs, isHere }: { readonly width: number; readonly nowMs: number; readonly isHere: boolean },
  look: Look,
): Line {
  const token = tokenOf(lane.tone);
  const column = (text: string, wide: number, one: Span['token']): Line =>
    wide === 0 ? [] : [...padLine(cutLine([span(text, one)], wide, look), wide), span('  ')];
  const line = [
    ...cursor(isHere, look),
    span('  '),
    span(`${signOfLane(lane, look)} `, token),
    ...column(nameOf(lane, width), columns.name, isHere ? 'text.strong' : 'text'),
    ...column(stepOf(group, lane, width), columns.step, 'text.dim'),
    ...column(lane.state, columns.state, token),
    ...column(ageOf(lane, nowMs), columns.age, 'text.dim'),
    span(lane.words, lane.tone === 'bad' || lane.tone === 'warn' ? token : 'text'),
  ];
  return cutLine(line, width, look);
}

/** A group in one row: state, wave, counts and stop rule; what does not fit is cut from the end. */
export function groupLine(
  group: GroupView,
  { width, isOpen, isHere }: { readonly width: number; readonly isOpen: boolean; readonly isHere: boolean },
  look: Look,
): Line {
  const { id, words, tone, wave, stopRule } = group;
  const waves = wave.of > 1 ? [`wave ${wave.at} of ${wave.of}`] : [];
  const facts = [...waves, countWords(group), ...(stopRule === undefined ? [] : [stopRule])].join('  ');
  const line = [
    ...cursor(isHere, look),
    span(isOpen ? '- ' : '+ ', 'text.dim'),
    span(id, 'text.strong'),
    span('  '),
    span(words, tokenOf(tone)),
    span(`  ${facts}`, 'text.dim'),
  ];
  return cutLine(line, width, look);
}

/** A question in one row: how many ask it, and where. */
export function askLine(ask: AskView, width: number, isHere: boolean, look: Look): Line {
  const { of, lanes, tone, prompt } = ask;
  const [first] = lanes;
  const who =
    of.is === 'plan'
      ? 'the plan'
      : of.is === 'group'
        ? of.group
        : lanes.length === 1
          ? first?.shown
          : `${lanes.length} ask`;
  const where = of.is === 'lanes' ? `${of.group} ${of.step}: ` : '';
  const lead = [
    ...cursor(isHere, look),
    span(`${tone === 'bad' ? look.glyphs.failed : look.glyphs.warn} `, tokenOf(tone)),
    span(`${who ?? ''}  `, 'text.strong'),
  ];
  const text = of.is === 'group' ? prompt.slice(of.group.length + 2) : prompt;
  const token = isHere ? 'text.strong' : 'text';
  const whole = [...lead, span(where, 'text.dim'), span(text, token)];
  return cutLine(lineWidth(whole) <= width ? whole : [...lead, span(text, token)], width, look);
}

/** The counts that are not zero: `3 done, 2 at work`. */
function countWords({ counts, state }: Pick<GroupView, 'counts' | 'state'>): string {
  const isOver = state === 'stopped' || state === 'notRun';
  const words = (Object.keys(COUNTS) as (keyof LaneCounts)[]).flatMap((name) =>
    counts[name] === 0 ? [] : [`${counts[name]} ${isOver && name === 'later' ? 'not run' : COUNTS[name]}`],
  );
  return words.join(', ');
}

const COUNTS: Readonly<Record<keyof LaneCounts, string>> = {
  failed: 'failed',
  waiting: 'waiting',
  atWork: 'at work',
  done: 'done',
  later: 'later',
  out: 'out',
  left: 'left open',
};

/** The sign of a lane, which says without colour where it stands. */
export function signOfLane({ is }: Pick<LaneView, 'is'>, { glyphs }: Look): string {
  switch (is) {
    case 'done':
      return glyphs.done;
    case 'at-work':
    case 'answered':
      return glyphs.current;
    case 'waiting':
    case 'left':
      return glyphs.warn;
    case 'failing':
    case 'failed':
      return glyphs.failed;
    case 'out':
      return glyphs.skipped;
    case 'ready':
    case 'later':
    case 'stopped':
    case 'not-run':
      return glyphs.ahead;
  }
}

export function cursor(isHere: boolean, { glyphs }: Look): Line {
  return [span(isHere ? `${glyphs.cursor} ` : '  ', 'selected')];
}

function nameOf({ shown, target }: LaneView, width: number): string {
  return target === undefined || width < ROOMY ? shown : `${shown} -> ${target}`;
}

function stepOf({ steps }: GroupView, { at }: LaneView, width: number): string {
  if (at === undefined) return '';
  const place = `${at}/${steps.length}`;
  return width < ROOMY ? place : `${place} ${steps[at - 1]?.id ?? ''}`;
}

/**
 * For how long a lane is where it is; if done, the time of day (UTC): a span would look like its duration.
 */
function ageOf({ is, sinceMs }: LaneView, nowMs: number): string {
  if (sinceMs === undefined) return '';
  if (is === 'done') return timeOfDay(sinceMs);
  return formatSpan(Math.max(0, (nowMs - sinceMs) / 1000));
}
