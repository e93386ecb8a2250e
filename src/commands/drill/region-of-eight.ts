import type { RestoreFacts } from '../../../machines/parts/task-data.ts';
import { dateAt } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import type { InstanceWish } from '../../lab/instance-plan.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import { runs, summariesOf } from '../../store/projections/runs.ts';
import type { ComparedTable } from '../../store/recovery-facts.ts';
import { allHold, type Chapter, compareSamples, newestOrder, outputOf } from './chapter.ts';
import { keyTarget, queryOf, type Stage } from './stage.ts';

const TIERS: Readonly<Record<string, number>> = { 'tier-1': 2, 'tier-2': 3, 'tier-3': 3 };
const TITLE = 'a region of eight instances is lost; a plan recovers them tier by tier';

const SOURCES = Object.entries(TIERS).flatMap(([tier, count]) =>
  Array.from({ length: count }, (_, at) => ({ name: `${tier}-${at + 1}`, tier })),
);

const PREPARE = `plan: prepare
groups:
  - id: cards
    for: { role: source, target: "{name}-dr" }
    maxConcurrency: 4
    steps: [{ id: card, runbook: disaster-recovery, with: { phase: prepare } }]
`;

const RECOVER = `plan: region
objectives: { rto: 30m, rpo: 15m }
groups:
${Object.keys(TIERS)
  .map(
    (tier, at, all) => `  - id: ${tier}
${at === 0 ? '' : `    after: [${all[at - 1]}]\n`}    for: { tag: ${tier}, target: "{name}-dr" }
    waves: [1, "100%"]
    maxConcurrency: 3
    stopWhen: { failed: 1 }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source is lost }
      - { id: count, check: { reconcile: true, expect: { rows: "> 0" } } }
`,
  )
  .join('')}`;

/**
 * Eight instances in three tiers: cards are made for all of them, then the region is lost, and a plan
 * recovers them. At the end the lost instances are brought back briefly, to compare every row.
 */
export function regionOfEight(): Chapter {
  const [first] = SOURCES;
  return {
    runbook: 'plan',
    title: TITLE,
    instance: first?.name ?? '',
    instances: SOURCES.flatMap(({ name }): readonly InstanceWish[] => [
      { name, sampleApp: true, key: true },
      { name: `${name}-dr` },
    ]),
    async play(stage) {
      const tags = Object.fromEntries(SOURCES.map(({ name, tier }) => [name, [tier]]));
      for (const { name } of SOURCES) await keyTarget(stage, `${name}-dr`);
      stage.say(`making a recovery card for each of ${SOURCES.length} instances`);
      if ((await stage.runPlan(PREPARE, tags, [])) !== 0) return undefined;
      await stage.pause('next, the region is lost: none of the eight instances answers any more');
      for (const { name } of SOURCES) await stage.lab.disaster(name, true);
      const exitCode = await stage.runPlan(RECOVER, tags, Object.keys(TIERS));
      if (exitCode !== 0) return undefined;
      await stage.lab.endTimeline();
      return proofOf(stage);
    },
  };
}

async function proofOf(stage: Stage): ReturnType<Chapter['play']> {
  const { journal } = stage.workspace;
  const [plan] = summariesOf(await journal.rows(runs.name, { order: 'descending' })).filter(
    ({ runbook }) => runbook === 'plan',
  );
  const children = plan === undefined ? [] : await childrenOf(journal, plan.runId);
  const tables: ComparedTable[] = [];
  const checks: { what: string; holds: boolean }[] = [];
  for (const { name } of SOURCES) {
    const child = children.find(({ lane, step }) => lane === name && step === 'recover');
    const entries = child === undefined ? [] : await journal.read(`run/${child.runId}`);
    const at = outputOf<RestoreFacts>(entries, 'waitForRestore')?.restoredFrom;
    stage.say(`bringing the lost ${name} back for a moment, to compare its rows`);
    await stage.lab.disaster(name, false);
    const source = queryOf(stage.lab, name);
    const until = at === undefined ? undefined : stage.lab.clock.toReal(dateAt(msOf(at)));
    const upTo = until === undefined ? 0 : ((await newestOrder(source, until))?.id ?? 0);
    const compared = await compareSamples(queryOf(stage.lab, `${name}-dr`), source, upTo);
    tables.push(...compared.tables.map((table) => ({ ...table, name: `${name} ${table.name}` })));
    checks.push({
      what: `${name}: orders came back, and each equals the sum of its lines`,
      holds: upTo > 0 && compared.balanced,
    });
  }
  const seconds = plan === undefined ? undefined : (msOf(plan.lastAt) - msOf(plan.startedAt)) / 1000;
  return {
    runbook: 'plan',
    title: TITLE,
    instance: SOURCES[0]?.name ?? '',
    runIds: children.flatMap(({ runId, step }) => (step === 'recover' ? [runId] : [])),
    proven: allHold({ checks, tables }),
    verdict: 'restored',
    checks,
    tables,
    measures:
      seconds === undefined
        ? {}
        : { rtoSeconds: seconds, rtoHow: 'from the start of the plan to its last step' },
    facts: { plan: plan?.runId ?? null, instances: SOURCES.length },
    files: [],
  };
}
