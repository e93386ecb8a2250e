import type { QuestionOption, QuestionView, WayOn } from '../../../../view/run-view.ts';
import type { Size } from '../../../bands.ts';
import { commandLines } from '../../../command-lines.ts';
import { hasText, limitRows, lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { hintLines } from '../../../parts/failure.ts';
import { type Line, type Look, span } from '../../../span.ts';
import { openedOf, type QuestionState, type Row, rowsOf } from '../question-state.ts';
import { approvalRows } from './approval.ts';
import { aboveName, roomNote } from './confirmation.ts';
import { factLines } from './facts.ts';
import { fieldRow, secretLines } from './fields.ts';
import { followUpDetail, followUpRow } from './follow-ups.ts';
import { momentLines } from './moment.ts';

/**
 * The question, its rows and what the operator has typed, in at most `limit` rows. When they are scarce,
 * hints go first (all but the one under the cursor), then rows far from the cursor, then the end of the
 * prompt. The picker of a moment and the details of a follow-up take what the others leave. `now` is the
 * run's clock in milliseconds; `needed` is how large the window has to be where a confirmation has no room.
 */
export function questionLines(
  question: QuestionView,
  state: QuestionState,
  width: number,
  limit: number,
  look: Look,
  now: number,
  needed?: Size,
): Line[] {
  const name = nameOf(question, state);
  const asked = [ruleLine(name, width, look, 'accent'), ...promptLines(question, state, width)];
  const tail = tailLines(state, width);
  const rows = rowsOf(question, state.opened);
  const drawn = (withHints: boolean, head: readonly Line[]) => {
    const fixed = rows.map((row, at) =>
      rowLines(row, at === state.row, withHints, question, state, width, look, now, needed),
    );
    return fixed.map((lines, at) => {
      const row = rows[at];
      const room = limit - count(head, tail, ...fixed) + lines.length;
      if (row === undefined) return lines;
      return growLines(row, lines, at === state.row, room, question, state, width, look, now);
    });
  };
  // The ways out come before what there is to know, which stands in full at the end of the text.
  const spare = limit - count(asked, tail, ...drawn(true, asked));
  const head = [...asked, ...limitRows(troubleLines(question, width, look), Math.max(0, spare), width, look)];
  const all = drawn(true, head);
  if (count(head, tail, ...all) <= limit) return [...head, ...all.flat(), ...tail];

  const bare = drawn(false, head);
  const shortTail = limitRows(
    tail,
    Math.max(1, Math.min(tail.length, limit - count(head, ...bare))),
    width,
    look,
  );
  if (count(head, shortTail, ...bare) <= limit) return [...head, ...bare.flat(), ...shortTail];

  const focused = bare[state.row] ?? [];
  const headRoom = Math.max(
    2,
    limit - shortTail.length - Math.max(focused.length, Math.min(4, count(...bare))),
  );
  const shortHead = limitRows(head, headRoom, width, look);
  // Nobody is to take the answers that are shown for all there are.
  if (rows.length > 1 && state.option === undefined) {
    const place = `${name}: ${state.row + 1} of ${rows.length}, up/down moves`;
    shortHead[0] = ruleLine(place, width, look, 'accent');
  }
  const room = limit - shortHead.length - shortTail.length;
  // Of an answer its label stays; of a field, the field, which is the end of its rows.
  if (rows[state.row]?.kind === 'option' && state.option === undefined)
    bare[state.row] = limitRows(focused, room, width, look);
  return [...shortHead, ...around(bare, state.row, room), ...shortTail].slice(0, limit);
}

/**
 * The rows that a confirmation does not do without: its rule and the first of what it orders, what is at
 * stake, the name and its field, and one for what is wrong with what was typed. 0 for every other question.
 */
export function leastRows(
  question: QuestionView,
  state: QuestionState,
  width: number,
  look: Look,
  now: number,
): number {
  const { row } = state;
  if (question.kind !== 'typed-name' || row !== 0) return 0;
  return 2 + aboveName(question, state, now, width, look).length + 1 + 1;
}

/** All that is said around the rows of a question: what is asked, and what was wrong with an answer. */
export function saidLines(question: QuestionView, state: QuestionState, width: number, look: Look): Line[] {
  return [
    ...promptLines(question, state, width),
    ...troubleLines(question, width, look),
    ...tailLines(state, width),
  ];
}

function count(...groups: readonly (readonly Line[])[]): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}

function nameOf(question: QuestionView, state: QuestionState): string {
  if (openedOf(question, state.opened) !== undefined) return 'how is it closed?';
  return NAMES[question.kind];
}

const NAMES = {
  choice: 'question',
  'typed-name': 'confirmation',
  secret: 'secret',
  time: 'point in time',
  text: 'question',
  followUps: 'follow-ups',
} as const;

function promptLines(question: QuestionView, state: QuestionState, width: number): Line[] {
  // The follow-up stands in full above its ways.
  if (openedOf(question, state.opened) !== undefined) return [];
  const prompt = question.prompt === '' ? [] : wrapLine([span(question.prompt, 'text.strong')], width);
  return question.kind === 'typed-name' ? [...prompt, ...approvalRows(question, width)] : prompt;
}

function tailLines(state: QuestionState, width: number): Line[] {
  if (state.sending) return [[span('  saving the answer', 'text.dim')]];
  if (state.problem === undefined) return [];
  return [
    ...wrapLine([span(`! ${state.problem.text}`, 'status.warn')], width, 2),
    ...hintLines(state.problem.hints, width),
  ];
}

function rowLines(
  row: Row,
  focused: boolean,
  withHints: boolean,
  question: QuestionView,
  state: QuestionState,
  width: number,
  look: Look,
  now: number,
  needed: Size | undefined,
): Line[] {
  const cursor = span(focused ? `${look.glyphs.cursor} ` : '  ', 'selected');
  if (row.kind === 'field') {
    const isTyped = focused && state.option === undefined;
    if (question.kind === 'secret') return secretLines(question, state, cursor, isTyped, width, look);
    const lines = [fieldRow(cursor, '', state, isTyped, width, look)];
    // With its field, so that however few rows there are, nobody types a name without seeing what it costs.
    if (question.kind === 'typed-name')
      return needed === undefined
        ? [...aboveName(question, state, now, width, look), ...lines]
        : roomNote(needed, width);
    if (question.kind !== 'text' || question.pattern === undefined) return lines;
    return [...lines, ...wrapLine([span(`    ${question.pattern.says}`, 'text.dim')], width, 4)];
  }
  if (row.kind === 'followUp') {
    const all = question.kind === 'followUps' ? question.open : [];
    return [followUpRow(row.followUp, focused, all, width, look)];
  }
  const { option } = row;
  const label = wrapLine([span(option.label, labelToken(option, focused)), ...remark(option)], width - 2, 2);
  const lines: Line[] = label.map((part, at) => [at === 0 ? cursor : span('  '), ...part]);
  const below =
    option.disabled !== undefined
      ? `not now: ${option.disabled}`
      : withHints || (focused && state.option === undefined)
        ? (option.hint ?? '')
        : '';
  if (below !== '') {
    lines.push(...wrapLine([span(`    ${below}`, 'text.dim')], width, 4));
  }
  if (focused && state.option?.needs !== undefined) {
    const label = `${state.option.needs.prompt}: `;
    const isLong = lineWidth([span(label)]) > width / 2;
    if (isLong) lines.push(...wrapLine([span(`    ${state.option.needs.prompt}`, 'accent')], width, 4));
    lines.push(fieldRow(span('    '), isLong ? '' : label, state, true, width, look));
  }
  return lines;
}

/** What a row shows besides where there is room for it; never more rows than that. */
function growLines(
  row: Row,
  lines: readonly Line[],
  focused: boolean,
  room: number,
  question: QuestionView,
  state: QuestionState,
  width: number,
  look: Look,
  now: number,
): Line[] {
  if (row.kind === 'followUp' && focused) {
    const isCut = !lines.some((line) => hasText(line, row.followUp.what));
    const below = followUpDetail(row.followUp, isCut, width);
    return limitRows([...lines, ...below], Math.max(2, room), width, look);
  }
  const { picker } = state;
  if (row.kind !== 'field' || question.kind !== 'time' || picker === undefined) return [...lines];
  const typing = focused && state.option === undefined;
  const hint = state.text === '' ? 'or type 14:32, -5m, 10 minutes ago' : 'Enter reads it: ';
  const typed =
    state.text === ''
      ? [span(`  ${hint}`, 'text.dim')]
      : fieldRow(span('  '), hint, state, typing, width, look);
  return momentLines(
    question,
    { ...state, picker },
    { focused: focused && state.text === '', now, field: typed },
    width,
    Math.max(3, room),
    look,
  );
}

function labelToken(option: QuestionOption, focused: boolean) {
  if (option.disabled !== undefined) return 'text.dim';
  return focused ? 'selected' : 'text';
}

function remark(option: QuestionOption): Line {
  return option.recommended && option.disabled === undefined ? [span('  (recommended)', 'text.dim')] : [];
}

/**
 * The rows around the one under the cursor, whole rows first, then as many of their lines as there is room
 * for. Rows that are left out are counted above and below the others, where two lines can be spared for that.
 */
function around(groups: readonly Line[][], at: number, room: number): Line[] {
  const least = groups[at]?.length ?? 0;
  const counts = room >= least + 3;
  const most = counts ? room - 2 : room;
  let first = at;
  let last = at;
  let used = least;
  for (;;) {
    const below = groups[last + 1];
    const above = groups[first - 1];
    if (below !== undefined && used + below.length <= most) {
      last += 1;
      used += below.length;
    } else if (above !== undefined && used + above.length <= most) {
      first -= 1;
      used += above.length;
    } else break;
  }
  const lines = groups.slice(first, last + 1).flat();
  if (!counts) return lines.length > room ? lines.slice(-Math.max(0, room)) : lines;
  const note = (count: number, where: string): Line[] =>
    count === 0 ? [] : [[span(`  (${count} more ${where})`, 'text.dim')]];
  return [...note(first, 'above'), ...lines, ...note(groups.length - 1 - last, 'below')];
}

/**
 * What there is to know of a failure that is asked about, and the commands that lead on, the most helpful on
 * top, each on rows of its own from the edge of the screen, so that it can be copied. Empty for any other
 * question.
 */
function troubleLines(question: QuestionView, width: number, look: Look): Line[] {
  if (question.kind !== 'choice' || question.trouble === undefined) return [];
  const { facts, commands } = question.trouble;
  const [first = [], ...others] = commands.map(({ when, command, leadsTo }, at) => [
    ...wrapLine([span(`${when}${at === 0 ? keysOf(leadsTo) : ''}:`, 'text.dim')], width),
    ...commandLines(command, width).lines,
  ]);
  return [...first, ...factLines(facts, width, look), ...others.flat()];
}

function keysOf(leadsTo: WayOn['leadsTo']): string {
  return leadsTo === undefined ? ' (y copies it)' : ' (w; y copies it)';
}
