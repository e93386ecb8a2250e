import * as z from 'zod';
import { formatSeconds } from '../base/format.ts';
import { SLICES } from './measure/slices.ts';
import type { Measured, Report } from './model/model.ts';
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
} from './render/document.ts';

/** Of two runs, in seconds. `difference` and `ratio` compare the second with the first, if both are known. */
const Pair = z.object({
  label: z.string(),
  first: z.number().optional(),
  second: z.number().optional(),
  difference: z.number().optional(),
  ratio: z.number().optional(),
});
export type Pair = z.infer<typeof Pair>;

const Words = z.object({ label: z.string(), first: z.string(), second: z.string() });

const Side = z.object({
  id: z.string(),
  title: z.string(),
  /** Whether the run is shown to have achieved its purpose: only then is a shorter time better. */
  proven: z.boolean(),
  startedAt: z.string().optional(),
  slices: z.record(z.string(), z.number()).optional(),
  deviations: z.array(z.object({ kind: z.string(), what: z.string(), reason: z.string() })),
  decisions: z.array(z.object({ what: z.string(), reason: z.string() })),
});

/** Two runs side by side, the older one first. Times RFC 3339, durations in seconds. */
export const Comparison = z.object({
  schema: z.literal('lifeboat.comparison/1'),
  generatedAt: z.string(),
  /** What `steps` compares: the steps of a runbook, or the groups of a plan. */
  parts: z.enum(['steps', 'groups']).default('steps'),
  runs: z.tuple([Side, Side]),
  alarms: z.array(z.object({ title: z.string(), text: z.string(), at: z.string(), by: z.string() })),
  /** Why the figures are not comparable; empty if they are. */
  cautions: z.array(z.string()),
  words: z.array(Words),
  times: z.array(Pair),
  steps: z.array(Pair),
});
export type Comparison = z.infer<typeof Comparison>;

/** Compares two reports, slice by slice and step by step, in the order in which the runs began. Pure. */
export function compareReports(one: Report, other: Report, generatedAt: Date): Comparison {
  const [first, second] = [one, other].sort((a, b) =>
    (a.run.startedAt ?? '').localeCompare(b.run.startedAt ?? ''),
  ) as [Report, Report];
  const pairs = (label: string, of: (report: Report) => number | undefined) =>
    pairOf(label, of(first), of(second));
  const words = (label: string, of: (report: Report) => string | undefined) => ({
    label,
    first: of(first) ?? 'not known',
    second: of(second) ?? 'not known',
  });
  return Comparison.parse({
    schema: 'lifeboat.comparison/1',
    generatedAt: generatedAt.toISOString(),
    parts: 'steps',
    runs: [sideOf(first), sideOf(second)],
    alarms: [first, second].flatMap(({ alarms, run }) =>
      alarms.map((alarm) => ({ ...alarm, title: `${alarm.title} (run ${run.id})` })),
    ),
    cautions: cautionsOf(first, second),
    words: [
      words('Run', ({ run }) => run.id),
      words('Runbook', ({ run }) =>
        run.runbook === undefined ? undefined : `${run.runbook}, version ${run.version}`,
      ),
      words('Instance', ({ run }) =>
        [run.instance, run.target].filter((name) => name !== undefined).join(' into '),
      ),
      words('Kind', ({ run }) => run.kind),
      words('Operator', ({ run }) => run.operator),
      words('Started', ({ run }) => run.startedAt),
      words('Outcome', ({ outcome }) => outcome.text),
      words('Proven', ({ outcome }) => PROVEN[String(outcome.proven)]),
      words('Recovery time (RTO)', ({ measured }) => resultOf(measured?.rto)),
      words('Recovery point (RPO)', ({ measured }) => resultOf(measured?.rpo)),
    ],
    times: [
      pairs('whole run', ({ run }) => run.seconds),
      ...recoveryTimes(first, second),
      pairs('recovery point (RPO)', ({ measured }) => measured?.rpo.measuredSeconds),
    ],
    steps: stepPairs(first, second),
  });
}

function resultOf(objective: Measured['rto'] | undefined): string {
  if (objective === undefined) return 'not measured';
  return objective.why === undefined ? objective.result : `${objective.result}: ${objective.why}`;
}

const PROVEN: Readonly<Record<string, string>> = {
  true: 'proven',
  false: 'not proven',
  undefined: 'not over',
};

/** A recovery that is not over or not shown has no final duration: its figures are listed, not compared. */
function recoveryTimes(first: Report, second: Report): Pair[] {
  const isLoose = [first, second].some(
    ({ measured }) =>
      measured !== undefined && (measured.status !== 'over' || measured.rto.why !== undefined),
  );
  const of = (label: string, read: (measured: Measured) => number | undefined): Pair => {
    const [a, b] = [first, second].map(({ measured }) =>
      measured === undefined ? undefined : read(measured),
    );
    return isLoose ? { label, first: a, second: b } : pairOf(label, a, b);
  };
  return [
    of('recovery time (RTO)', ({ rto }) => rto.measuredSeconds),
    ...SLICES.map((slice) => of(slice, ({ slices }) => slices[slice])),
  ];
}

export function pairOf(label: string, first: number | undefined, second: number | undefined): Pair {
  if (first === undefined || second === undefined) return { label, first, second };
  const difference = Number((second - first).toFixed(3));
  return { label, first, second, difference, ratio: first > 0 ? second / first : undefined };
}

function sideOf({
  run,
  title,
  outcome,
  measured,
  deviations,
  decisions,
}: Report): Comparison['runs'][number] {
  const { id, startedAt } = run;
  const proven = outcome.proven === true;
  return { id, title, proven, startedAt, slices: measured?.slices, deviations, decisions };
}

/** Steps that both have, in the order of the first; then those of only one. Repeated steps are added up. */
function stepPairs(first: Report, second: Report): Pair[] {
  const [a, b] = [stepTimes(first), stepTimes(second)];
  return [...new Set([...a.keys(), ...b.keys()])].map((title) => pairOf(title, a.get(title), b.get(title)));
}

function stepTimes({ course }: Report): Map<string, number> {
  const times = new Map<string, number>();
  for (const { title, seconds } of course?.steps ?? []) times.set(title, (times.get(title) ?? 0) + seconds);
  return times;
}

function cautionsOf(first: Report, second: Report): string[] {
  const [a, b] = [first.run, second.run];
  const measured = [first, second].filter((report) => report.measured === undefined);
  return [
    ...(a.id === b.id ? ['both are the same run'] : []),
    ...(a.runbook === b.runbook
      ? []
      : [
          `they ran different runbooks (${a.runbook ?? 'not known'} and ${b.runbook ?? 'not known'}): only what both have is comparable`,
        ]),
    ...(a.runbook === b.runbook && a.version !== b.version
      ? ['they ran different versions of the runbook: a step may mean something else']
      : []),
    ...(a.instance === b.instance
      ? []
      : [`they ran on different instances (${a.instance} and ${b.instance})`]),
    ...(a.kind === b.kind ? [] : [`one is ${a.kind}, the other ${b.kind}`]),
    ...measured.map(({ run }) => `run ${run.id} has no measured recovery, so it has no slices`),
    ...(first.measured !== undefined &&
    second.measured !== undefined &&
    first.measured.since !== second.measured.since
      ? ['one recovery time counts from the incident, the other from the start of its run']
      : []),
    ...[first, second]
      .filter(({ outcome }) => outcome.status !== 'closed')
      .map(({ run, outcome }) => `run ${run.id} is ${outcome.status}: its figures end with its last entry`),
    ...[first, second]
      .filter(({ outcome }) => outcome.status === 'closed' && outcome.proven !== true)
      .map(({ run }) => `run ${run.id} is not proven: its times say nothing about a recovery`),
    ...[first, second]
      .filter(({ run }) => run.clockSetBack)
      .map(({ run }) => `the clock was set back during run ${run.id}`),
    ...[first, second]
      .filter(({ run }) => run.clockMovedSeconds.length > 0)
      .map(({ run }) => `the clock was moved during run ${run.id}; its times leave that out`),
  ];
}

export function comparisonPages(comparison: Comparison): Document {
  const { runs, alarms, cautions, words, times, steps, parts, generatedAt, schema } = comparison;
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
        blocks: [listOr(COMPARABLE[parts], cautions)],
      },
      { title: 'Times', blocks: [...bars(runs), pairs('Times, slice by slice', times, isJudged)] },
      parts === 'steps'
        ? { title: 'Steps', blocks: [pairs('Total time in each step', steps, isJudged)] }
        : { title: 'Groups', blocks: [pairs('From the begin to the end of each group', steps, isJudged)] },
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

const COMPARABLE = {
  steps: 'Full: the same version of the same runbook, on the same instance.',
  groups: 'Full: the same text of the same plan.',
} as const;

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
