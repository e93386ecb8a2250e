import { formatSeconds } from '../../base/format.ts';
import type { Comparison, Pair } from '../comparison.ts';
import {
  alarmText,
  type Block,
  type Document,
  listOr,
  paragraph,
  type Section,
  type Text,
  tableOr,
  time,
} from './document.ts';

/** Two runs side by side as a document. */
export function comparisonPages(comparison: Comparison): Document {
  const { runs, alarms, cautions, words, times, steps, generatedAt, schema } = comparison;
  const [first, second] = runs;
  const isJudged = first.proven && second.proven;
  return {
    title: `Two runs compared: ${first.title}; ${second.title}`,
    lead: [
      ...alarms.map((alarm): Block => ({ kind: 'alarm', title: alarm.title, text: alarmText(alarm) })),
      {
        kind: 'table',
        caption: 'The runs, the older one first',
        head: ['', 'First', 'Second'],
        rows: words.map(({ label, first: a, second: b }) => [label, { strong: a }, { strong: b }]),
      },
    ],
    sections: [
      {
        title: 'Comparability',
        blocks: [listOr('Full: the same version of the same runbook, on the same instance.', cautions)],
      },
      { title: 'Times', blocks: [...bars(runs), pairs('Times, slice by slice', times, isJudged)] },
      { title: 'Steps', blocks: [pairs('Total time in each step', steps, isJudged)] },
      sideSection('Deviations', runs, ({ deviations }) =>
        deviations.map(({ kind, what, reason }) => `${kind}: ${what}: ${reason}`),
      ),
      sideSection('Decisions', runs, ({ decisions }) =>
        decisions.map(({ what, reason }) => (reason === '' ? what : `${what}: ${reason}`)),
      ),
    ],
    foot: `Written ${time(generatedAt)} UTC from the journals of both runs (${schema}). All times are UTC.`,
  };
}

function bars([first, second]: Comparison['runs']): Block[] {
  const known = [
    { label: 'First', slices: first.slices },
    { label: 'Second', slices: second.slices },
  ].flatMap(({ label, slices }) => (slices === undefined ? [] : [{ label, slices }]));
  return known.length === 0
    ? []
    : [{ kind: 'bars', caption: 'Recovery times in slices, to one scale.', runs: known }];
}

function pairs(caption: string, all: readonly Pair[], isJudged: boolean): Block {
  return tableOr(
    'None.',
    caption,
    ['', 'First', 'Second', 'Difference', 'Ratio'],
    all.map(({ label, first, second, difference, ratio }) => [
      label,
      seconds(first),
      seconds(second),
      difference === undefined
        ? 'not comparable'
        : isSame(difference, first, second)
          ? 'the same'
          : change(difference, isJudged),
      ratio === undefined || isSame(difference, first, second) ? '' : `${ratio.toFixed(2)} times`,
    ]),
  );
}

function seconds(value: number | undefined): string {
  return value === undefined ? 'none' : formatSeconds(value);
}

/** Shorter is better only between two shown recoveries. */
function change(difference: number, isJudged: boolean): Text {
  const text = `${difference > 0 ? '+' : '-'}${formatSeconds(Math.abs(difference))}`;
  if (!isJudged) return text;
  return difference > 0 ? { bad: text } : { good: text };
}

/** To a tenth of a second, the precision of the two figures beside it. */
function isSame(
  difference: number | undefined,
  first: number | undefined,
  second: number | undefined,
): boolean {
  return difference !== undefined && Math.abs(difference) < 0.05 && seconds(first) === seconds(second);
}

function sideSection(
  title: string,
  [first, second]: Comparison['runs'],
  of: (side: Comparison['runs'][number]) => readonly string[],
): Section {
  const side = (name: string, texts: readonly string[]): Block[] => [
    paragraph({ strong: `${name}:` }),
    listOr('None.', texts),
  ];
  return { title, blocks: [...side('First', of(first)), ...side('Second', of(second))] };
}
