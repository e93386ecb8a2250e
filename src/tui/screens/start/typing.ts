import { formatSpan } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import { formatHere } from '../../../view/zone.ts';
import { cutLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { fieldLine } from '../../parts/field.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { momentLines } from '../run/parts/moment.ts';
import { momentProblem, momentQuestion, notChosenYet, noWindowOf, pickerOf, typedMoment } from './moment.ts';
import { type State, stepsFor } from './state.ts';

type Size = Around['size'];

/** The page on which somebody says when it happened. */
export function incidentLines(state: State, around: Around, { columns }: Size, look: Look): readonly Line[] {
  const isEmpty = state.field.text.trim() === '';
  const read = typedMoment(state, around);
  const problem = isEmpty ? undefined : momentProblem(read);
  const isPitr = stepsFor(state.answers).includes('moment');
  const said: readonly Line[] =
    isEmpty || read === undefined
      ? wrapLine([span('such as 14:32, 14:32 UTC, 10 minutes ago, yesterday 23:10', 'text.dim')], columns)
      : 'time' in read
        ? readLines(read.time, around, columns, look)
        : wrapLine([span(`${look.glyphs.warn} ${problem ?? ''}`, 'status.warn')], columns, 2);
  const why = isPitr
    ? 'next you choose the moment to go back to; a minute before this one is suggested'
    : 'the recovery time counts from it';
  return [
    fieldLine(`${look.glyphs.cursor} `, state.field, columns, look),
    BLANK,
    ...said,
    BLANK,
    ...wrapLine(
      [
        span(
          `${why}. If nobody knows, press Enter on an empty line. The time then counts from the start of the run.`,
          'text.dim',
        ),
      ],
      columns,
    ),
  ];
}

function readLines(time: string, around: Around, width: number, look: Look): readonly Line[] {
  const at = msOf(time);
  const ago = formatSpan(Math.max(0, (around.now.getTime() - at) / 1000));
  const [first, ...others] = formatHere(at);
  return [
    [span(`${look.glyphs.done} `, 'status.ok'), span(first, 'text.strong'), span(`  ${ago} ago`)],
    ...others.map((utc) => [span(`  ${utc}`)]),
  ].map((line) => cutLine(line, width, look));
}

/** The page on which the moment is chosen that is brought back. */
export function pickingLines(
  state: State,
  around: Around,
  { columns, rows }: Size,
  look: Look,
): readonly Line[] {
  const question = momentQuestion(state, around);
  if (question === undefined) {
    const why = noWindowOf(state, around);
    return why === undefined
      ? wrapLine([span('asking the service how far back it can go', 'text.dim')], columns)
      : [
          ...wrapLine(
            [span(`${look.glyphs.warn} how far back it can go is not known: ${why}`, 'status.warn')],
            columns,
            2,
          ),
          ...wrapLine([span('  the run asks the service again, and then asks you for the time')], columns, 2),
        ];
  }
  const typedNow = state.field.text.trim() !== '';
  const problem = typedNow ? momentProblem(typedMoment(state, around), question) : undefined;
  const said =
    problem === undefined
      ? []
      : wrapLine([span(`${look.glyphs.warn} ${problem}`, 'status.warn')], columns, 2);
  const picker = pickerOf(question, state);
  const incident = typeof state.answers.incident === 'string' ? msOf(state.answers.incident) : undefined;
  const unchosen = typedNow ? undefined : notChosenYet(state);
  const note =
    unchosen === undefined
      ? sideOf(picker.at, incident, look)
      : wrapLine([span(`${look.glyphs.warn} ${unchosen}`, 'status.warn')], columns, 2);
  const room = Math.max(0, rows - said.length - note.length);
  const drawn = momentLines(
    question,
    { key: '', row: 0, text: state.field.text, cursor: state.field.cursor, picker, sending: false },
    {
      focused: !typedNow,
      now: around.now.getTime(),
      field: fieldLine(typedNow ? `${look.glyphs.cursor} ` : '  or type it: ', state.field, columns, look),
    },
    columns,
    room,
    look,
  );
  return [...note.map((line) => cutLine(line, columns, look)), ...drawn, ...said];
}

/** Where the moment lies beside the mistake. */
function sideOf(at: number, incident: number | undefined, look: Look): readonly Line[] {
  if (incident === undefined) return [];
  const seconds = Math.abs(incident - at) / 1000;
  return at < incident
    ? [[span(`${look.glyphs.done} `, 'status.ok'), span(`${formatSpan(seconds)} before it happened`)]]
    : [
        [
          span(
            `${look.glyphs.warn} not before it happened: what went wrong would be brought back`,
            'status.warn',
          ),
        ],
      ];
}
