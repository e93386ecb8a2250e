import { appendFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { closeDatabases, shareDatabases } from '../crash/database.ts';
import { type Case, casesOf, recordFlow } from './cases.ts';
import { tryInCrew } from './crew.ts';
import { flowsNamed } from './flows.ts';
import { isGood, lineOf, reportOf } from './report.ts';
import { sampleOf } from './sample.ts';
import { TABLE_TEXT } from './table.ts';
import type { Finding } from './trial.ts';

/*
 * `npm run test:faults [-- --sample N --seed S --flow NAME --fault NAME --kind NAME --store ENGINE --out FILE
 * --table]`: runs every flow with every fault at every endpoint that it calls, and resumes it without. Exit
 * code 1 when a verdict is not the one of the table, or a promise was broken.
 */
const { values } = parseArgs({
  options: {
    table: { type: 'boolean', default: false },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    flow: { type: 'string' },
    fault: { type: 'string' },
    kind: { type: 'string' },
    /** sqlite or postgres. */
    store: { type: 'string', default: 'sqlite' },
    /** Every finding, one a line, to be counted. */
    out: { type: 'string' },
    /** Processes. */
    crew: { type: 'string', default: String(availableParallelism()) },
  },
});

/** Flows that are recorded at the same time: little of that is work. */
const RECORDED_AT_ONCE = 6;

if (values.table) process.stdout.write(TABLE_TEXT);
else process.exitCode = await crossOn(values.store);

async function crossOn(store: string): Promise<number> {
  process.env['FAULTS_STORE'] = store;
  if (store === 'postgres') await shareDatabases();
  try {
    return await cross();
  } finally {
    await closeDatabases();
  }
}

async function cross(): Promise<number> {
  const began = performance.now();
  const recorded = await inPool(RECORDED_AT_ONCE, flowsNamed(values.flow), recordFlow);
  const size = values.sample === undefined ? undefined : Number(values.sample);
  const cases = sampleOf(recorded.flatMap(casesOf).filter(isWanted), size, Number(values.seed));
  process.stderr.write(`${cases.length} cases, seed ${values.seed}\n`);
  const findings = await tryAll(cases);
  // What was never met shows nothing; whatever else came out is what came out.
  const missed = findings.filter(({ verdict, crashed, hung }) => verdict === 'missed' && !crashed && !hung);
  const again = missed.length === 0 ? [] : await tryAll(missed.map((finding) => finding.case));
  const all = [...findings.filter((finding) => !missed.includes(finding)), ...again];
  process.stdout.write(reportOf(all));
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(
    `seed ${values.seed}; ${seconds} s; ${missed.length} tried again, since they met nothing\n`,
  );
  // Last, where a reader finds them at the end of a long log.
  for (const finding of all) if (!isGood(finding)) process.stderr.write(`${lineOf(finding)}\n`);
  return all.every(isGood) ? 0 : 1;
}

async function tryAll(cases: readonly Case[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  await tryInCrew(cases, Number(values.crew), (finding) => {
    findings.push(finding);
    if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(rowOf(finding))}\n`);
  });
  return findings;
}

function rowOf(finding: Finding) {
  const { flow, kind, plan } = finding.case;
  const { fault, times, route, at } = plan;
  const name = `${flow.name} ${flow.revision}`;
  return { ...finding, case: undefined, flow: name, kind, fault, times, route, at, good: isGood(finding) };
}

function isWanted({ kind, plan }: Case): boolean {
  return (
    (values.fault === undefined || values.fault.split(',').includes(plan.fault)) &&
    (values.kind === undefined || values.kind.split(',').includes(kind))
  );
}

/** Does something with each, this many at a time; gives the results in their order. */
async function inPool<In, Out>(
  size: number,
  all: readonly In[],
  act: (one: In) => Promise<Out>,
): Promise<readonly Out[]> {
  const out = new Map<number, Out>();
  const queue = [...all.entries()];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      out.set(next[0], await act(next[1]));
  };
  await Promise.all(Array.from({ length: Math.min(size, all.length) }, work));
  return [...out].toSorted(([a], [b]) => a - b).map(([, one]) => one);
}
