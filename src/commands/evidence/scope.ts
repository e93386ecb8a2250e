import { EXIT, LifeboatError } from '../../base/errors.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { show } from '../../base/text.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Evidence } from '../../evidence/evidence-schema.ts';
import type { JournalReader } from '../../store/journal.ts';
import { askedBy, type FoundPlan, findPlan } from '../plans/evaluate-plans.ts';
import { planNames } from '../plans/plan-files.ts';
import { isPlanRun } from '../plans/plan-report-of.ts';
import type { PackedRun } from './record.ts';

export interface Scope {
  /** As asked; undefined for everything. */
  readonly asked: Evidence['scope'];
  /** The instances, configured or on record, and after them the ledgers of plans. */
  readonly instances: readonly string[];
  readonly planSubjects: readonly string[];
  readonly plans: readonly FoundPlan[];
  of(runs: readonly PackedRun[]): readonly PackedRun[];
}

/**
 * Everything that the config or the journal names; with `-i` or `--plan` only those instances, and of a plan
 * its runs, what they started, and its instances with their targets. Rejects for a name that neither knows.
 */
export async function scopeOf(
  config: LoadedConfig | undefined,
  journal: JournalReader | undefined,
  { instance = [], plan = [] }: { readonly instance?: readonly string[]; readonly plan?: readonly string[] },
): Promise<Scope> {
  const heads = (await journal?.streams('instance/')) ?? [];
  const onRecord = heads.map(({ stream }) => stream.slice('instance/'.length));
  const isPlan = (name: string) => name.startsWith(planSubject(''));
  const isAll = instance.length + plan.length === 0;
  for (const name of instance) assertKnown(config, onRecord, name);
  const names = isAll && config !== undefined ? planNames(config) : plan;
  const plans: FoundPlan[] = [];
  for (const name of names) plans.push(await findPlan(configFor(config, name), name));
  const wanted = isAll
    ? [...Object.keys(config?.instances ?? {}), ...onRecord.filter((name) => !isPlan(name))]
    : [...instance, ...plans.flatMap(askedBy)];
  const instances = [...new Set(wanted)];
  const ofPlans = plans.map(({ name }) => planSubject(name));
  const planSubjects = [...new Set([...ofPlans, ...(isAll ? onRecord.filter(isPlan) : [])])];
  const touches = new Set([...instances, ...planSubjects]);
  return {
    asked: isAll ? undefined : { instances: [...instance], plans: plans.map(({ name }) => name) },
    ...{ instances, planSubjects, plans },
    of(runs) {
      if (isAll) return runs;
      const ofThem = runs.filter((run) => isPlanRun(run) && planSubjects.includes(run.instance));
      const begun = new Set(ofThem.map(({ runId }) => runId));
      return runs.filter(
        (run) =>
          begun.has(run.runId) ||
          begun.has(run.planRun ?? '') ||
          [run.instance, run.target].some((name) => name !== undefined && touches.has(name)),
      );
    },
  };
}

function assertKnown(config: LoadedConfig | undefined, onRecord: readonly string[], name: string): void {
  if (onRecord.includes(name)) return;
  instanceNamed(configFor(config, name), name);
}

function configFor(config: LoadedConfig | undefined, name: string): LoadedConfig {
  if (config !== undefined) return config;
  throw new LifeboatError('config.missing', `there is no lifeboat.yaml that names ${show(name, 80)}`, {
    hints: ['without -i and --plan the pack has all that is on record', 'nothing was written'],
    exitCode: EXIT.usage,
  });
}
