import { splitAt } from '../../plain/width.ts';
import type { QuestionOption, QuestionView } from '../../view/run-view.ts';
import { cutLine, lineWidth, ruleLine, wrapLine } from '../line.ts';
import { openedOf, type QuestionState, type Row, rowsOf } from '../question-state.ts';
import { type Line, type Look, span } from '../span.ts';
import { approvalLines, approvalRows } from './approval.ts';
import { limitRows } from './facts.ts';
import { followUpDetail, followUpRow } from './follow-ups.ts';
import { momentLines } from './moment.ts';

/**
 * The question, its rows and what the operator has typed, in at most `limit` rows. When they are scarce,
 * hints go first (all but the one under the cursor), then rows far from the cursor, then the end of the
 * prompt. The picker of a moment and the details of a follow-up take what the others leave. `now` is the
 * run's clock in milliseconds.
 */
export function questionLines(
  question: QuestionView,
  state: QuestionState,
  width: number,
  limit: number,
  look: Look,
  now: number,
): Line[] {
  const head = [
    ruleLine(nameOf(question, state), width, look, 'accent'),
    ...promptLines(question, state, width),
  ];
  const tail = tailLines(state, width);
  const rows = rowsOf(question, state.opened);
  const drawn = (withHints: boolean) => {
    const fixed = rows.map((row, at) =>
      rowLines(row, at === state.row, withHints, question, state, width, look),
    );
    return fixed.map((lines, at) => {
      const row = rows[at];
      const room = limit - count(head, tail, ...fixed) + lines.length;
      if (row === undefined) return lines;
      return growLines(row, lines, at === state.row, room, question, state, width, look, now);
    });
  };
  const all = drawn(true);
  if (count(head, tail, ...all) <= limit) return [...head, ...all.flat(), ...tail];

  const bare = drawn(false);
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
  const room = limit - shortHead.length - shortTail.length;
  return [...shortHead, ...around(bare, state.row, room), ...shortTail].slice(0, limit);
}

/** All that is said around the rows of a question: what is asked, and what was wrong with an answer. */
export function saidLines(question: QuestionView, state: QuestionState, width: number): Line[] {
  return [...promptLines(question, state, width), ...tailLines(state, width)];
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
  const prompt = wrapLine([span(question.prompt, 'text.strong')], width);
  return question.kind === 'typed-name' ? [...prompt, ...approvalRows(question, width)] : prompt;
}

function tailLines(state: QuestionState, width: number): Line[] {
  if (state.sending) return [[span('  saving the answer', 'text.dim')]];
  if (state.problem === undefined) return [];
  return [
    ...wrapLine([span(`! ${state.problem.text}`, 'status.warn')], width, 2),
    ...state.problem.hints.flatMap((hint) => wrapLine([span(`  hint: ${hint}`)], width, 8)),
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
): Line[] {
  const cursor = span(focused ? `${look.glyphs.cursor} ` : '  ', 'selected');
  if (row.kind === 'field') {
    if (question.kind === 'secret')
      return [cutLine([cursor, ...secretField(question, state, focused, look)], width, look)];
    const lines = [field(cursor, [], state.text, focused && state.option === undefined, width)];
    // With its field, so that however few rows there are, nobody types a name that does not stand there.
    if (question.kind === 'typed-name')
      return [
        ...approvalLines(question, state, width, look),
        ...nameLines(question.expected, width),
        ...lines,
      ];
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
    const label = [span(`${state.option.needs.prompt}: `, 'accent')];
    const isLong = lineWidth(label) > width / 2;
    if (isLong) lines.push(...wrapLine([span(`    ${state.option.needs.prompt}`, 'accent')], width, 4));
    lines.push(field(span('    '), isLong ? [] : label, state.text, true, width));
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
    return limitRows([...lines, ...followUpDetail(row.followUp, width)], Math.max(2, room), width, look);
  }
  const { picker } = state;
  if (row.kind !== 'field' || question.kind !== 'time' || picker === undefined) return [...lines];
  const typing = focused && state.option === undefined;
  const hint = state.text === '' ? 'or type 14:32, -5m, 10 minutes ago' : 'Enter reads it: ';
  const typed =
    state.text === ''
      ? [span(`  ${hint}`, 'text.dim')]
      : field(span('  '), [span(hint, 'accent')], state.text, typing, width);
  return momentLines(
    question,
    { ...state, picker },
    { focused: focused && state.text === '', now, field: typed },
    width,
    Math.max(3, room),
    look,
  );
}

function nameLines(expected: string, width: number): Line[] {
  return wrapLine([span('to confirm, type '), span(expected, 'selected'), span(' and then Enter')], width);
}

function labelToken(option: QuestionOption, focused: boolean) {
  if (option.disabled !== undefined) return 'text.dim';
  return focused ? 'selected' : 'text';
}

function remark(option: QuestionOption): Line {
  return option.recommended && option.disabled === undefined ? [span('  (recommended)', 'text.dim')] : [];
}

/** A field of one row; of a long text its end is shown, where the typing happens. */
function field(lead: Line[number], label: Line, text: string, focused: boolean, width: number): Line {
  const cursor = focused ? [span(' ', 'cursor')] : [];
  const shortLabel = lineWidth(label) > width / 2 ? [] : label;
  const room = Math.max(1, width - lineWidth([lead, ...shortLabel]) - 1);
  return [lead, ...shortLabel, span(endOf(span(text).text, room), 'text.strong'), ...cursor];
}

function endOf(text: string, width: number): string {
  let rest = text;
  while (lineWidth([{ text: rest, token: 'text' }]) > width) rest = splitAt(rest, 0, 1)[1];
  return rest;
}

/** A secret shows only whether something was typed and whether it is long enough, never how long it is. */
function secretField(
  question: QuestionView & { kind: 'secret' },
  state: QuestionState,
  focused: boolean,
  look: Look,
): Line {
  const label = state.first === undefined ? 'hidden: ' : 'once more, to compare: ';
  const filled = state.text !== '' || state.sending;
  const isShort = state.text.length < question.minLength;
  const remarks = [
    question.minLength > 0 ? `at least ${question.minLength} characters` : '',
    filled && !state.sending && question.minLength > 0 ? (isShort ? 'too short yet' : 'long enough') : '',
  ].filter((text) => text !== '');
  return [
    span(label, 'accent'),
    span(filled ? look.glyphs.dot.repeat(8) : ''),
    ...(focused ? [span(' ', 'cursor')] : []),
    span(`  ${remarks.join(', ')}`, 'text.dim'),
  ];
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
