import { counted } from '../../../../base/format.ts';
import { closedWords, stillOpen } from '../../../../view/follow-up-words.ts';
import type { OutcomeView, RailStep, RunView } from '../../../../view/run-view.ts';
import { GAP, type Layout, type Pane, scrolled, wall } from '../../../bands.ts';
import { commandLines } from '../../../command-lines.ts';
import { cutLine, lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { BLANK, type Line, type Look, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';
import type { UiState } from '../screen-state.ts';
import { factLines } from './facts.ts';
import { followUpRow } from './follow-ups.ts';
import { objectiveBars } from './objectives.ts';
import { railLines, railWidth, roomyRail, stepLine } from './rail.ts';

type Ended = RunView & { readonly outcome: OutcomeView };

/** From so many columns on the steps stand beside the end of a run; else they are the end of its text. */
const BESIDE = 100;

/** A run that is over, unless something lies over it. */
export function endedIn({ view, overlay }: UiState): Ended | undefined {
  const { outcome } = view;
  return outcome === undefined || overlay !== 'none' ? undefined : { ...view, outcome };
}

/** A run that is over, in the place of the run: its end, beside the steps that led there. */
export function finished(view: Ended, scroll: number, columns: number, height: number, look: Look): Layout {
  const isBeside = columns >= BESIDE && view.rail.length > 0 && view.rail.length <= height;
  const railCells = isBeside ? railWidth(view.rail, roomyRail(columns)) : 0;
  const width = isBeside ? columns - railCells - GAP : columns;
  const lines = finishedLines(view, view.outcome, { width, height, withSteps: !isBeside }, look);
  const { shown, page } = scrolled(lines, scroll, width, height, look);
  const text: Pane = { width, height, lines: shown };
  if (!isBeside) return { page, bands: [{ height, panes: [text] }] };
  const steps: Pane = { width: railCells, height, lines: railLines(view.rail, railCells, height, look) };
  return { page, bands: [{ height, panes: [steps, wall(height, look), text] }] };
}

/** From so many rows on the parts of the recovery time are drawn, and blank rows part what is shown. */
const ROOMY = 30;

/** Rows of what is cut first: of more remarks or follow-ups, the rest follows below the proof. */
const MIN = 2;

/**
 * The end of a run, the most needed first: what came of it, the clocks against their objectives, what is
 * still to be done, where the proof is. Those stand in the first `height` rows where that can be; the facts
 * follow, and with `withSteps` how long each step took.
 */
function finishedLines(
  view: RunView,
  outcome: OutcomeView,
  { width, height, withSteps }: { readonly width: number; readonly height: number; withSteps: boolean },
  look: Look,
): Line[] {
  const isRoomy = height >= ROOMY;
  const gap = isRoomy ? [BLANK] : [];
  const head = resultLines(outcome, width, look);
  const bars = objectiveBars(view.objectives, width, isRoomy, look);
  const proof = proofLines(view, outcome, width, look);
  const remarks = outcome.remarks.flatMap(({ tone, text }) => {
    const sign = signOf(tone, look);
    return wrapLine([span(`  ${sign === ' ' ? '' : `${sign} `}${text}`, tokenOf(tone))], width, 4);
  });
  const openHead = followUpHead(view, outcome, width, look);
  const open = followUpLines(view, width, look);
  // The last row of a text that is longer says so.
  const room = height - openHead.length - head.length - bars.length - proof.length - 3 * gap.length - 1;
  const openRows = Math.min(open.length, Math.max(MIN, room - Math.min(remarks.length, MIN)));
  const first = firstRows(remarks, Math.max(MIN, room - openRows), 'of remarks', look);
  const openLines = firstRows(open, openRows, 'of follow-ups', look);
  return [
    ...head,
    ...first,
    ...gap,
    ...bars,
    ...(bars.length === 0 ? [] : gap),
    ...openHead,
    ...openLines,
    ...gap,
    ...proof,
    ...(first.length === remarks.length ? [] : under('remarks', remarks, width, look)),
    ...(openLines.length === open.length ? [] : under('follow-ups', open, width, look)),
    ...outcome.groups.flatMap(({ title, facts }) =>
      under(title, factLines(facts, width, look, Number.POSITIVE_INFINITY), width, look),
    ),
    ...(withSteps ? stepsLines(view.rail, width, look) : []),
  ];
}

/** `✓ PROVEN`, how long it took, and below it the sentence. */
function resultLines(
  { tone, verdict, title, took, ways = [] }: OutcomeView,
  width: number,
  look: Look,
): Line[] {
  const token = tokenOf(tone);
  const word: Line = [span(`${signOf(tone, look)} ${verdict.toUpperCase()}`, token)];
  const both = [...word, span(`  ${took}`, 'text.dim')];
  return [
    ...(lineWidth(both) <= width ? [both] : [word, ...wrapLine([span(`  ${took}`, 'text.dim')], width, 2)]),
    ...wrapLine([span(`  ${title}`, 'text.strong')], width, 2),
    ...ways.flatMap(({ when, command, leadsTo }) => [
      ...wrapLine([span(`${when}${leadsTo === undefined ? '' : ' (w)'}:`)], width),
      ...commandLines(command, width).lines,
    ]),
  ];
}

function followUpHead(
  { followUps }: RunView,
  outcome: OutcomeView,
  width: number,
  look: Look,
): readonly Line[] {
  const open = stillOpen(followUps).length;
  if (open > 0)
    return [ruleLine(`still to be done: ${counted(open, 'follow-up')}`, width, look, 'status.warn')];
  const { text, tone } = closedWords(followUps, outcome);
  return wrapLine([span(`${signOf(tone, look)} `, tokenOf(tone)), span(text)], width, 2);
}

function followUpLines({ followUps }: RunView, width: number, look: Look): Line[] {
  const open = [...stillOpen(followUps)].sort(
    (one, other) => (one.left ?? Number.MAX_VALUE) - (other.left ?? Number.MAX_VALUE),
  );
  if (open.length === 0) return [];
  const command: Line = [span('  lifeboat followups list', 'text.code'), span('  says how', 'text.dim')];
  return [
    ...open.map((followUp) => followUpRow(followUp, false, open, width, look)),
    cutLine(command, width, look),
  ];
}

/** Where the record is, how the report is had, and what pins it. */
function proofLines({ runId }: RunView, { report, anchor }: OutcomeView, width: number, look: Look): Line[] {
  const rows = (...facts: (readonly [label: string, value: string])[]) => {
    const plain = facts.map(([label, value]) => ({
      label: label.padEnd(LABEL),
      value,
      tone: 'plain' as const,
    }));
    return factLines(plain, width, look, Number.POSITIVE_INFINITY);
  };
  const pin = anchor === undefined ? [] : [['anchor', `${anchor} (for the ticket)`] as const];
  return [
    ruleLine('where the proof is', width, look),
    ...rows(['report', `o reads it here; this writes ${report.file}:`]),
    ...commandLines(report.command, width).lines,
    ...rows(['run', runId], ...pin),
  ];
}

const LABEL = 6;

function stepsLines(rail: readonly RailStep[], width: number, look: Look): Line[] {
  const rows = rail.map((step) => cutLine(stepLine(step, look), width, look));
  return rows.length === 0 ? [] : under('steps', rows, width, look);
}

function under(title: string, lines: readonly Line[], width: number, look: Look): Line[] {
  return [ruleLine(title, width, look), ...lines];
}

/** The first rows; where some are missing, the last says how many, and that they follow. */
function firstRows(lines: readonly Line[], most: number, what: string, look: Look): readonly Line[] {
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, Math.max(1, most - 1));
  const missing = counted(lines.length - kept.length, 'more row');
  return [...kept, [span(`  ${look.glyphs.more} ${missing} ${what} below`, 'text.dim')]];
}
