import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Case, casesOf, flowsNamed, recordFlow } from './cases.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import { inPool, randomFrom } from './draw.ts';
import { isGood, lineOf, reportOf } from './report.ts';
import { TABLE_TEXT } from './table.ts';
import { type Finding, tryCase } from './trial.ts';

/*
 * `npm run test:faults [-- --sample N --seed S --flow NAME --fault NAME --kind NAME --table]`: walks every flow into every fault at every
 * endpoint that it calls, and out of it again. Exit code 1 when a verdict is not the one of the table, or a promise was broken.
 */
const { values } = parseArgs({
  options: {
    table: { type: 'boolean', default: false },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    flow: { type: 'string' },
    fault: { type: 'string' },
    kind: { type: 'string' },
    /** So many at a time: most of them wait. */
    at: { type: 'string', default: String(availableParallelism() * 8) },
  },
});

if (values.table) process.stdout.write(TABLE_TEXT);
else process.exitCode = await cross(makeCertificates());

async function cross(certificates: Certificates): Promise<number> {
  const began = performance.now();
  const at = Number(values.at);
  try {
    const recorded = await inPool(at, flowsNamed(values.flow), recordFlow);
    const cases = drawn(recorded.flatMap(casesOf).filter(isWanted));
    process.stderr.write(`${cases.length} cases, seed ${values.seed}\n`);
    const findings = await inPool(at, cases, async (one) => {
      const finding = await tryCase(one, certificates);
      if (!isGood(finding)) process.stderr.write(`to be tried again: ${lineOf(finding)}\n`);
      return finding;
    });
    // What a busy machine made late is tried again by itself: what counts is the second time.
    const again: Finding[] = [];
    for (const finding of findings) {
      const second = isGood(finding) ? finding : await tryCase(finding.case, certificates);
      again.push(second);
      if (!isGood(second)) process.stderr.write(`${lineOf(second)}\n`);
    }
    process.stdout.write(reportOf(again));
    process.stdout.write(`seed ${values.seed}; ${Math.round((performance.now() - began) / 1000)} s in all\n`);
    return again.every(isGood) ? 0 : 1;
  } finally {
    certificates.remove();
  }
}

function isWanted({ kind, plan }: Case): boolean {
  return (
    (values.fault === undefined || values.fault === plan.fault) &&
    (values.kind === undefined || values.kind === kind)
  );
}

/** As many as are wanted, in an order that follows from the seed. */
function drawn(cases: readonly Case[]): readonly Case[] {
  const draw = randomFrom(Number(values.seed));
  return cases
    .map((one) => ({ one, order: draw() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, Number(values.sample ?? cases.length))
    .map(({ one }) => one);
}
