import { KINDS } from './points.ts';
import type { Trial } from './trial.ts';

/** The figures of some trials. */
export interface Figures {
  readonly points: number;
  readonly hit: number;
  readonly kills: number;
  readonly resumes: number;
  readonly asked: number;
  readonly accepted: number;
  readonly repeats: number;
  readonly doubles: number;
  readonly lostKeys: number;
  readonly lostFollowUps: number;
  readonly broken: number;
}

const TITLES = [
  ...['points', 'hit', 'kills', 'resumes', 'asked', 'accepted', 'repeats'],
  ...['doubles', 'keys lost', 'work lost', 'broken'],
];

export function figuresOf(trials: readonly Trial[]): Figures {
  const sum = (count: (trial: Trial) => number) => trials.reduce((total, trial) => total + count(trial), 0);
  return {
    points: trials.length,
    hit: sum(({ hit }) => Number(hit)),
    kills: sum(({ kills }) => kills),
    resumes: sum(({ resumes }) => resumes),
    asked: sum(({ asked }) => asked),
    accepted: sum(({ isAccepted }) => Number(isAccepted)),
    repeats: sum(({ repeats }) => repeats),
    doubles: sum(({ doubles }) => doubles),
    lostKeys: sum(({ lostKeys }) => lostKeys),
    lostFollowUps: sum(({ lostFollowUps }) => lostFollowUps),
    broken: sum(({ problems }) => Number(problems.length > 0)),
  };
}

/** Flow by flow, each with its kinds, and then all kinds of all flows. */
export function tableOf(trials: readonly Trial[]): string {
  const flows = [...Map.groupBy(trials, ({ scene }) => `${scene.flow}, ${scene.dress}`)].toSorted();
  const lines = [
    `${''.padEnd(WIDTH)}${TITLES.map((title) => title.padStart(10)).join('')}`,
    ...flows.flatMap(([flow, some]) => [row(flow, some), ...kindsOf(some)]),
    row('ALL', trials),
    ...kindsOf(trials),
    `moments met: ${new Set(trials.map(({ scene, where }) => `${scene.flow} ${where}`)).size}`,
  ];
  return lines.join('\n');
}

const WIDTH = 50;

function kindsOf(trials: readonly Trial[]): string[] {
  return KINDS.flatMap((kind) => {
    const some = trials.filter(({ point }) => point.kind === kind);
    return some.length === 0 ? [] : [row(`  ${kind}`, some)];
  });
}

function row(name: string, trials: readonly Trial[]): string {
  const cells = Object.values(figuresOf(trials) as Figures & Record<string, number>);
  return `${name.padEnd(WIDTH)}${cells.map((cell) => String(cell).padStart(10)).join('')}`;
}
