import { approvalLine, approvalSteps } from '../../../../plain/describe-approval.ts';
import { stakesWords } from '../../../../view/question-words.ts';
import type { QuestionOption, QuestionView, WayOn } from '../../../../view/run-view.ts';
import { estimateIfLoaded, secretWords } from '../../../../view/secret-words.ts';
import type { Size } from '../../../bands.ts';
import { commandLines } from '../../../command-lines.ts';
import { cutLine, hasText, limitRows, lineWidth, padLine, ruleLine, wrapLine } from '../../../line.ts';
import { factLines, hintLines } from '../../../parts/facts.ts';
import { type Field, fieldLine, graphemes, printedField } from '../../../parts/field.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import { tokenOf } from '../../../theme.ts';
import { openedOf, type QuestionState, type Row, rowsOf } from '../screen-state.ts';
import { followUpDetail, followUpRow } from './follow-ups.ts';
import { momentLines } from './moment.ts';

/**
 * In at most `limit` rows. Hints are dropped first (not the one under the cursor), then rows far from the
 * cursor, then the end of the prompt. A moment's picker and a follow-up's details take the rows that are
 * left. `now`: the run's clock in milliseconds; `needed`: the window size that a confirmation lacks.
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
  // Answers come before the facts of the failure, which also stand in full at the end of the text.
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
  // Say that there are more answers than the rows shown.
  if (rows.length > 1 && state.option === undefined) {
    const place = `${name}: ${state.row + 1} of ${rows.length}, up/down moves`;
    shortHead[0] = ruleLine(place, width, look, 'accent');
  }
  const room = limit - shortHead.length - shortTail.length;
  // Of an option keep its first rows, the label; of a field keep the last one, the input.
  if (rows[state.row]?.kind === 'option' && state.option === undefined)
    bare[state.row] = limitRows(focused, room, width, look);
  return [...shortHead, ...around(bare, state.row, room), ...shortTail].slice(0, limit);
}

/** The least rows of a confirmation: rule, first of the prompt, stakes, name, field, complaint. Else 0. */
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

/** All text around the rows: the prompt, the facts of the failure, and what was wrong with the answer. */
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
  // The follow-up is shown in full above.
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
    // Drawn together with the field, so that the stakes are visible whenever a name can be typed.
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

/** Adds details to a row where `room` allows. */
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

/** Whole rows around the focused one, then lines as they fit; two spare lines count those left out. */
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
 * The facts of a failure and the commands that lead on, the most helpful first, each on rows of its own from
 * the screen's edge, so that it can be copied. Empty for other questions.
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

type TypedName = QuestionView & { readonly kind: 'typed-name' };

/** The longest label and two blanks. */
const NAME_WIDTH = 13;

/** Always drawn right above the name field: stakes, approval, and the name to type. */
function aboveName(
  question: TypedName,
  state: Pick<QuestionState, 'breakGlass'>,
  now: number,
  width: number,
  look: Look,
): Line[] {
  return [
    ...stakesLines(question, now, width),
    ...approvalLines(question, state, width, look),
    ...wrapLine(
      [span('to confirm, type '), span(question.expected, 'selected'), span(' and then Enter')],
      width,
    ),
  ];
}

function stakesLines({ stakes }: TypedName, now: number, width: number): Line[] {
  return stakesWords(stakes, now).flatMap(({ name, text }) => {
    const token = 'text.strong';
    if (width < 3 * NAME_WIDTH) return wrapLine([span(`${name}: `, 'text.dim'), span(text, token)], width, 2);
    return wrapLine([span(text, token)], width - NAME_WIDTH).map((row, at) => [
      ...padLine(at === 0 ? [span(name, 'text.dim')] : [], NAME_WIDTH),
      ...row,
    ]);
  });
}

/** Shown in place of the field if the window is too small for the stakes. */
function roomNote({ columns, rows }: Size, width: number): Line[] {
  return wrapLine(
    [
      span('! ', 'status.warn'),
      span(
        `no room to show what is at stake, so no confirmation is accepted: enlarge this window to at least ${columns} x ${rows}`,
        'status.warn',
      ),
    ],
    width,
    2,
  );
}

/** The state of the approval in one row, so that it fits on any screen. */
function approvalLines(
  { approval }: TypedName,
  { breakGlass }: Pick<QuestionState, 'breakGlass'>,
  width: number,
  look: Look,
): Line[] {
  if (breakGlass !== undefined)
    return [
      cutLine([span(`BREAK-GLASS, without a second person: ${breakGlass}`, 'status.bad')], width, look),
    ];
  if (approval === undefined) return [];
  const { by = '' } = approval;
  const words = `${SHORT[approval.state]}${approval.state === 'given' ? ` by ${by}` : ''}`;
  return [cutLine([span(words, tokenOf(approvalLine(approval).tone))], width, look)];
}

const SHORT = {
  needed: 'not approved yet',
  given: 'approved',
  expired: 'the request for an approval has expired',
  withdrawn: 'the approval was withdrawn',
  bypassed: 'BREAK-GLASS, without a second person',
} as const;

/** The approval in full, with the commands for the second person, which can be copied row by row. */
function approvalRows({ approval }: TypedName, width: number): Line[] {
  if (approval === undefined) return [];
  const { text, tone } = approvalLine(approval);
  return [
    ...wrapLine([span(text, tokenOf(tone))], width, 2),
    ...approvalSteps(approval).flatMap((step) => commandLines(step, width, { token: 'text.dim' }).lines),
  ];
}

/** A one-row field behind a lead and a label; of a long text the part around the cursor is visible. */
function fieldRow(
  lead: Span,
  label: string,
  field: Field,
  focused: boolean,
  width: number,
  look: Look,
): Line {
  const name = label === '' ? [] : [span(label, 'accent')];
  const room = Math.max(4, width - lineWidth([lead, ...name]));
  const line = fieldLine('', printedField(field), room, look).filter(({ text }) => text !== '');
  return cutLine([lead, ...name, ...line.map((part) => inField(part, focused))], width, look);
}

function inField({ text, token }: Span, focused: boolean): Span {
  if (token === 'cursor') return { text, token: focused ? token : 'text.strong' };
  return { text, token: 'text.strong' };
}

/** The field of a secret, below what can be said without showing it: length, strength, common mistakes. */
function secretLines(
  question: QuestionView & { readonly kind: 'secret' },
  state: QuestionState,
  cursor: Span,
  focused: boolean,
  width: number,
  look: Look,
): Line[] {
  const { minLength, isNew } = question;
  const { text, first, sending, lostLineEnd = false } = state;
  const isAgain = first !== undefined;
  const label = isAgain ? 'once more, to compare: ' : 'hidden: ';
  const dots = look.glyphs.dot.repeat(graphemes(text).length);
  const field = fieldRow(cursor, label, { text: dots, cursor: state.cursor }, focused, width, look);
  if (sending) return [field];
  if (text === '')
    return minLength > 1 ? [[span(`  at least ${minLength} characters`, 'text.dim')], field] : [field];
  const { length, strength, pitfalls } = secretWords(text, {
    minLength,
    isNew: isNew && !isAgain,
    lostLineEnd,
    guessedBits: isNew && !isAgain ? estimateIfLoaded(text) : undefined,
  });
  return [
    ...wrapLine([span(`  ${[length, strength].filter((part) => part !== undefined).join('; ')}`)], width, 2),
    ...pitfalls.flatMap((pitfall) =>
      wrapLine([span(`  ${look.glyphs.warn} `, 'status.warn'), span(pitfall)], width, 4),
    ),
    field,
  ];
}
