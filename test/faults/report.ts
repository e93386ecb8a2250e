import { FAULTS } from './faults.ts';
import { expectedOf } from './table.ts';
import type { Finding } from './trial.ts';

/** Whether it came out as the table says, and no promise was broken on the way. */
export function isGood(finding: Finding): boolean {
  const { crashed, hung, lost, doubled, claims, strayed } = finding;
  const isKept = !hung && !lost && doubled.length === 0 && claims.length === 0 && !strayed;
  return isExpected(finding) && crashed === undefined && isKept;
}

function isExpected({ case: one, verdict }: Finding): boolean {
  return verdict === expectedOf(one);
}

/** A case and its result, to find out why. */
export function lineOf(finding: Finding): string {
  const { kind, flow, plan } = finding.case;
  const { verdict, where, resumed, crashed, hung, lost, doubled, claims, strayed } = finding;
  const marks = [
    hung && 'HUNG',
    lost && 'LOST',
    ...doubled.map((what) => `DOUBLED ${what}`),
    ...claims.map((what) => `CLAIMED ${what}`),
    strayed && 'STRAYED',
    crashed,
  ];
  const step = plan.at === undefined ? '' : `${plan.at.verb} ${plan.at.turn}`;
  return [
    `${flow.name} ${flow.revision}: ${plan.fault} ${plan.times} at ${plan.route} (${kind}, ${step})`,
    `expected ${expectedOf(finding.case)}, was ${verdict}: ${where}`,
    `then ${resumed}`,
    ...marks.filter((mark) => typeof mark === 'string'),
  ].join('\n  ');
}

/** Flow by fault, as text, and the sums. */
export function reportOf(findings: readonly Finding[]): string {
  const flows = [...new Set(findings.map(({ case: { flow } }) => `${flow.name} ${flow.revision}`))];
  const width = Math.max(...flows.map((flow) => flow.length)) + 2;
  const lines = [['', 'cases', ...COLUMNS.map(([name]) => name)]];
  for (const flow of flows) {
    lines.push([
      flow,
      ...sums(findings.filter(({ case: one }) => `${one.flow.name} ${one.flow.revision}` === flow)),
    ]);
  }
  lines.push(['']);
  for (const fault of FAULTS) {
    const some = findings.filter(({ case: { plan } }) => plan.fault === fault);
    if (some.length > 0) lines.push([fault, ...sums(some)]);
  }
  lines.push([''], ['all', ...sums(findings)]);
  const rows = lines.map(([name = '', ...cells]) =>
    [name.padEnd(width), ...cells.map((cell) => cell.padStart(12))].join('').trimEnd(),
  );
  return `${rows.join('\n')}\n`;
}

const COLUMNS: readonly (readonly [name: string, is: (finding: Finding) => boolean])[] = [
  ['as expected', isExpected],
  ['doubles', ({ doubled }) => doubled.length > 0],
  ['false claims', ({ claims }) => claims.length > 0],
  ['lost runs', ({ lost }) => lost],
  ['crashes', ({ crashed }) => crashed !== undefined],
  ['hangs', ({ hung }) => hung],
  ['strayed', ({ strayed }) => strayed],
];

function sums(findings: readonly Finding[]): string[] {
  return [findings.length, ...COLUMNS.map(([, is]) => findings.filter(is).length)].map(String);
}
