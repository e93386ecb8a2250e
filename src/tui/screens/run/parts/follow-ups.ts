import { ageWords, dueWords, stillOpen, waysInWords } from '../../../../view/follow-up-words.ts';
import type { FollowUpView } from '../../../../view/run-view.ts';
import { commandLines } from '../../../command-lines.ts';
import { cutLine, limitRows, lineWidth, padLine, ruleLine, wrapLine } from '../../../line.ts';
import { BLANK, type Line, type Look, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';

/** What has to be done to what, by when, by whom. A narrow row loses the action first, the verb last. */
export function followUpRow(
  followUp: FollowUpView,
  focused: boolean,
  all: readonly FollowUpView[],
  width: number,
  look: Look,
): Line {
  const widest = (part: (one: FollowUpView) => Line) =>
    Math.max(0, ...all.map((one) => lineWidth(part(one))));
  const due = (one: FollowUpView) => dueSpans(one, look);
  const [dueWidth, ownerWidth] = [widest(due), widest(ownerSpans)];
  const room = width - 2 - dueWidth - ownerWidth;
  const most = Math.max(Math.floor(width / 2), room);
  const whatWidth = Math.min(widest(whatSpans), most);
  const row: Line = [
    span(focused ? `${look.glyphs.cursor} ` : '  ', 'selected'),
    ...padLine(cutLine(whatSpans(followUp, focused), whatWidth, look), whatWidth),
    ...padLine(due(followUp), dueWidth),
    ...ownerSpans(followUp),
  ];
  return cutLine(row, width, look);
}

/** Most actions contain the name of their subject. */
function whatSpans({ subject, what }: FollowUpView, focused = false): Line {
  return [span(what.includes(subject) ? what : `${subject}: ${what}`, focused ? 'selected' : 'text')];
}

function ownerSpans({ owner }: FollowUpView): Line {
  return owner === '' ? [] : [span(`  owner ${owner}`, 'text.dim')];
}

/** Below the row under the cursor: the action if the row cut it, commands to copy, and how to close it. */
export function followUpDetail(followUp: FollowUpView, isCut: boolean, width: number): Line[] {
  const known = ageWords(followUp);
  const indented = (text: string) => wrapLine([span(`    ${text}`, 'text.dim')], width, 4);
  return [
    ...(isCut ? wrapLine([span(`    ${followUp.what}`)], width, 4) : []),
    ...(known === '' ? [] : indented(known)),
    ...followUp.commands.flatMap((command) => commandLines(command, width, { lead: '    ' }).lines),
    ...indented(`closed ${waysInWords(followUp)}`),
  ];
}

/** One follow-up in full. Its commands begin at the screen's edge, so that copying takes no indent along. */
export function followUpLines(followUp: FollowUpView, width: number, look: Look): Line[] {
  const known = [dueWords(followUp).text, ageWords(followUp)].filter((text) => text !== '').join(', ');
  return [
    ruleLine(`open: ${followUp.subject}`, width, look, 'accent'),
    ...wrapLine([span(followUp.what, 'text.strong')], width),
    ...wrapLine([span(known, 'text.dim')], width),
    ...(followUp.commands.length === 0 ? [] : [BLANK]),
    ...followUp.commands.flatMap((command) => commandLines(command, width).lines),
    BLANK,
    ...wrapLine([span(`It is closed ${waysInWords(followUp)}.`, 'text.dim')], width),
  ];
}

/** The open follow-ups, a row each, the most urgent first, in at most `limit` rows. */
export function followUpPanel(
  followUps: readonly FollowUpView[],
  width: number,
  limit: number,
  look: Look,
): Line[] {
  const open = [...stillOpen(followUps)].sort(
    (one, other) => (one.left ?? Number.MAX_VALUE) - (other.left ?? Number.MAX_VALUE),
  );
  if (open.length === 0) return [];
  const rows = open.map((followUp): Line => {
    const due = dueSpans(followUp, look);
    return cutLine(
      [...(due.length === 0 ? [span('  ')] : []), ...due, span('  '), ...whatSpans(followUp)],
      width,
      look,
    );
  });
  const title = ruleLine(`follow-ups open: ${open.length}`, width, look);
  if (rows.length < limit) return [title, ...rows];
  const shown = rows.slice(0, Math.max(0, limit - 2));
  const more: Line = [span(`  ${open.length - shown.length} more`, 'text.dim')];
  return limitRows([title, ...shown, more], limit, width, look);
}

function dueSpans(followUp: FollowUpView, look: Look): Line {
  const { text, tone } = dueWords(followUp);
  if (text === '') return [];
  const sign = signOf(tone, look);
  return [span(`  ${sign === ' ' ? '' : `${sign} `}${text}`, tokenOf(tone))];
}
