import { formatSpan } from '../../../../base/format.ts';
import { msOf } from '../../../../base/instant.ts';
import type { TimeQuestion } from '../../../../view/moment-reader.ts';
import { formatHere, formatUtc } from '../../../../view/zone.ts';
import { cutLine, lineWidth, wrapLine } from '../../../line.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import type { Token } from '../../../theme.ts';
import type { Intent } from '../key-binding.ts';
import { type Picker, type QuestionState, UNITS } from '../screen-state.ts';

/**
 * At most `room` rows: the moment in both zones, its cost, its place in the range, the arrows' unit, and the
 * typed text (`field`). Short of rows, the moment goes last.
 */
export function momentLines(
  question: TimeQuestion,
  state: QuestionState & { readonly picker: Picker },
  about: { readonly focused: boolean; readonly now: number; readonly field: Line },
  width: number,
  room: number,
  look: Look,
): Line[] {
  const { at, unit } = state.picker;
  const { earliest, latest } = edgesOf(question);
  if (Number.isNaN(at) || !(earliest <= latest)) {
    return wrapLine([span('  the range of times cannot be read', 'status.warn')], width, 2);
  }
  const cursor = span(about.focused ? `${look.glyphs.cursor} ` : '  ', 'selected');
  const typed = state.text !== '';
  const field: Part = { worth: typed ? 9 : 2, lines: [about.field] };
  const shown = shownMoment(at, cursor, typed ? 'text' : 'selected');
  const others: Part[] = [
    { worth: 5, lines: wrapLine([span(`  ${costOf(at, latest, about.now)}`)], width, 2) },
    { worth: 6, lines: [barLine(at, question, width, look)] },
    { worth: 5.5, lines: legendLines(question, width, look) },
    { worth: 4, lines: edgeLines(earliest, latest, width) },
    { worth: 3, lines: [unitLine(unit)] },
  ];
  const large: Part = { worth: 8, lines: largeMoment(at, cursor) };
  const whole = [field, large, ...others].flatMap((part) => part.lines);
  const isLarge = !typed && width >= LARGE_WIDTH && whole.length <= room;
  const drawn = isLarge ? whole : fitting([field, ...shown, ...others], room);
  return drawn.map((line) => cutLine(line, width, look));
}

/** From this width on, large digits fit beside the two zones. */
const LARGE_WIDTH = 72;

function shownMoment(at: number, cursor: Span, token: Token): Part[] {
  const [first, ...others] = formatHere(at);
  return [
    { worth: 8, lines: [[cursor, span(first, token)]] },
    ...others.map((utc) => ({
      worth: 7,
      lines: [[span('  '), span(utc, token === 'selected' ? 'text.strong' : token)]],
    })),
  ];
}

/** The moment with its local time in large digits. */
function largeMoment(at: number, cursor: Span): Line[] {
  const [first, utc = ''] = formatHere(at);
  const time = /\d\d:\d\d:\d\d/u.exec(first)?.[0] ?? '';
  const [top, middle, bottom] = largeDigits(time);
  return [
    [span('  '), span(top, 'selected')],
    [cursor, span(middle, 'selected'), span('   '), span(first, 'selected')],
    [span('  '), span(bottom, 'selected'), span('   '), span(utc, 'text.strong')],
  ];
}

interface Part {
  readonly worth: number;
  readonly lines: readonly Line[];
}

/** Drops the parts of least worth until the rest fits, and keeps the order. */
function fitting(parts: readonly Part[], room: number): Line[] {
  const lines = parts.flatMap((part) => part.lines);
  if (lines.length <= room || parts.length <= 1) return lines.slice(0, Math.max(0, room));
  const least = Math.min(...parts.map(({ worth }) => worth));
  return fitting(
    parts.filter(({ worth }) => worth > least),
    room,
  );
}

/** What choosing this moment loses: everything after it. */
function costOf(at: number, latest: number, now: number): string {
  const before = latest - at;
  const reach =
    before < 1000 ? 'the latest possible' : `${formatSpan(before / 1000)} before the latest possible`;
  if (Number.isNaN(now) || now < at) return `${reach}; what was written after it is lost`;
  return `${formatSpan(Math.floor((now - at) / 1000))} ago: what was written since is lost; ${reach}`;
}

/** The range with backups, incident and moment; of two on one cell, the later in this order is drawn. */
function barLine(at: number, question: TimeQuestion, width: number, look: Look): Line {
  const { wall, rule, full } = look.glyphs;
  const { earliest, latest } = edgesOf(question);
  const track = Math.max(1, width - 4);
  const bar: Span[] = Array.from({ length: track }, () => span(rule, 'text.dim'));
  for (const { glyph, token, times } of marksOf(question, look))
    for (const time of times) bar[placeOf(time)] = span(glyph, token);
  bar[placeOf(at)] = span(full, 'selected');
  return [span(`  ${wall}`, 'text.dim'), ...bar, span(wall, 'text.dim')];

  function placeOf(time: number): number {
    const part = (time - earliest) / (latest - earliest || 1);
    return Math.round(Math.min(1, Math.max(0, part)) * (track - 1));
  }
}

interface Mark {
  readonly glyph: string;
  readonly token: Token;
  readonly name: string;
  readonly times: readonly number[];
}

/** The marks on the bar besides the moment itself; unreadable times are left out. */
function marksOf({ marks: { incident, backups } }: TimeQuestion, { glyphs }: Look): readonly Mark[] {
  const read = (texts: readonly string[]) => texts.map((text) => msOf(text)).filter(Number.isFinite);
  const all: readonly Mark[] = [
    { glyph: glyphs.bullet, token: 'status.ok', name: 'backup', times: read(backups) },
    {
      glyph: glyphs.failed,
      token: 'status.bad',
      name: 'it went wrong',
      times: read(incident === undefined ? [] : [incident]),
    },
  ];
  return all.filter(({ times }) => times.length > 0);
}

/** Explains the signs of the bar with their times; of several backups the newest. */
function legendLines(question: TimeQuestion, width: number, look: Look): Line[] {
  const entries = marksOf(question, look).map(({ glyph, token, name, times }): Line => {
    const newest = formatUtc(Math.max(...times));
    const words = times.length === 1 ? `${name} ${newest}` : `${times.length} ${name}s, the newest ${newest}`;
    return [span(`${glyph} `, token), span(words, 'text.dim'), span('  ')];
  });
  const own: Line = [span(`${look.glyphs.full} `, 'selected'), span('chosen', 'text.dim'), span('  ')];
  return entries.length === 0 ? [] : wrapLine([span('  '), ...own, ...entries.flat()], width, 2);
}

/** Both ends in both zones: below the ends of the bar, or below each other if that is too narrow. */
function edgeLines(earliest: number, latest: number, width: number): Line[] {
  const [from, to] = [formatHere(earliest), formatHere(latest)];
  if (width < 60) {
    const row = (word: string) => (text: string, at: number) => [
      span(`  ${at === 0 ? word : '    '} ${text}`, 'text.dim'),
    ];
    return [...from.map(row('from')), ...to.map(row('  to'))];
  }
  const rows = Array.from({ length: Math.max(from.length, to.length) }, (_, at) => [from[at], to[at]]);
  return rows.map(([left = '', right = '']): Line => {
    const gap = width - 3 - lineWidth([span(left), span(right)]);
    return [span(`  ${left}${' '.repeat(Math.max(1, gap))}${right}`, 'text.dim')];
  });
}

function unitLine(unit: Picker['unit']): Line {
  const names = [...UNITS]
    .reverse()
    .flatMap((name) => [
      span(' '),
      name === unit ? span(`[${name}]`, 'selected') : span(` ${name} `, 'text.dim'),
    ]);
  return [span('  arrows move it by', 'text.dim'), ...names];
}

/** A time such as `14:32:05` in three rows of the same width; other characters are left blank. */
function largeDigits(text: string): readonly [string, string, string] {
  const forms = Array.from(text, (character) => FORMS[character] ?? BLANK);
  const row = (at: 0 | 1 | 2) => forms.map((form) => form[at]).join(' ');
  return [row(0), row(1), row(2)];
}

type Form = readonly [string, string, string];

const BLANK: Form = ['   ', '   ', '   '];

const FORMS: Readonly<Record<string, Form>> = {
  '0': [' _ ', '| |', '|_|'],
  '1': ['   ', '  |', '  |'],
  '2': [' _ ', ' _|', '|_ '],
  '3': [' _ ', ' _|', ' _|'],
  '4': ['   ', '|_|', '  |'],
  '5': [' _ ', '|_ ', ' _|'],
  '6': [' _ ', '|_ ', '|_|'],
  '7': [' _ ', '  |', '  |'],
  '8': [' _ ', '|_|', '|_|'],
  '9': [' _ ', '|_|', ' _|'],
  ':': [' ', '.', '.'],
};

const STEP_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const;

/** Moves the picker within its range; undefined if the intent is not about it. */
export function movePicker(question: TimeQuestion, picker: Picker, intent: Intent): Picker | undefined {
  const { earliest, latest } = edgesOf(question);
  const to = (at: number): Picker => ({ ...picker, at: Math.min(latest, Math.max(earliest, at)) });
  switch (intent) {
    case 'earlier':
      return to(picker.at - STEP_MS[picker.unit]);
    case 'later':
      return to(picker.at + STEP_MS[picker.unit]);
    case 'first':
      return to(earliest);
    case 'last':
      return to(latest);
    case 'coarser':
      return { ...picker, unit: UNITS[UNITS.indexOf(picker.unit) + 1] ?? picker.unit };
    case 'finer': {
      const unit = UNITS[UNITS.indexOf(picker.unit) - 1];
      return unit === undefined ? undefined : { ...picker, unit };
    }
    default:
      return undefined;
  }
}

/** The ends of the range in milliseconds; NaN if they cannot be read. */
export function edgesOf({ earliest, latest }: TimeQuestion): { earliest: number; latest: number } {
  return { earliest: msOf(earliest), latest: msOf(latest) };
}

export function isPickable(question: TimeQuestion, { at }: Picker): boolean {
  const { earliest, latest } = edgesOf(question);
  return at >= earliest && at <= latest;
}

/** The question with the moment that was read, or with the reason why none was. */
export function withMoment(
  question: QuestionState,
  text: string,
  moment: { readonly time: Date } | { readonly problem: string },
): QuestionState {
  const { picker, problem: _, ...rest } = question;
  // The field has changed since this text was sent to be read.
  if (picker === undefined || picker.reading !== text) return question;
  const { reading: __, ...idle } = picker;
  return 'time' in moment
    ? { ...rest, text: '', picker: { ...idle, at: moment.time.getTime() } }
    : { ...rest, picker: idle, problem: { text: moment.problem, hints: [] } };
}
