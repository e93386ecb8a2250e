import { hash } from 'node:crypto';
import * as z from 'zod';
import { type Plan, PlanFile } from '../../machines/parts/plan.ts';
import { EXIT, LifeboatError, type ProblemInFile } from '../base/errors.ts';
import { schemaId } from '../base/schema-id.ts';
import { type Parsed, problemsIn } from '../config/problems.ts';
import { readYaml, wrongFile, type YamlFile } from '../config/read-yaml.ts';
import type { JsonSchema } from '../config/schema.ts';
import { problemsOfPlan } from './plan-problems.ts';
import type { Misfit } from './resolve.ts';

export interface ReadPlan {
  readonly plan: Plan;
  readonly text: string;
  readonly sha256: string;
  /** In the order of the file. */
  readonly placesOf: (found: readonly Misfit[]) => readonly ProblemInFile[];
}

/** Bytes: a plan is kept whole in the first entry of its run. */
export const LONGEST_PLAN = 256 * 1024;

const CheckedPlan = PlanFile.superRefine((plan, { addIssue }) => {
  for (const { path, message } of problemsOfPlan(plan))
    addIssue({ code: 'custom', path: [...path], message });
});

const PLAN_FILE: YamlFile<typeof CheckedPlan> = {
  kind: 'plan',
  schema: CheckedPlan,
  jsonSchema: planJsonSchema,
  unreadable: (path, why) =>
    new LifeboatError('plan.yaml', `${path} is not YAML: ${why}`, { exitCode: EXIT.usage }),
};

/** Throws `plan.yaml` and `plan.invalid` (exit 2) with all problems, each with line and column. */
export function readPlan(text: string, path: string): ReadPlan {
  const { data, parsed } = readYaml(text, path, PLAN_FILE);
  return {
    plan: data,
    text,
    sha256: hash('sha256', text, 'hex'),
    placesOf: (found) => placesIn(parsed, found),
  };
}

/** Throws `plan.misfit` (exit 2) if a plan does not fit lifeboat.yaml. */
export function assertFits({ placesOf }: ReadPlan, misfits: readonly Misfit[]): void {
  if (misfits.length > 0)
    throw wrongFile('plan.misfit', placesOf(misfits), [
      'the plan has to fit lifeboat.yaml: change one of the two',
    ]);
}

function placesIn(parsed: Parsed, found: readonly Misfit[]): readonly ProblemInFile[] {
  const issues = found.map(({ path, message }) => ({ code: 'custom' as const, path: [...path], message }));
  return problemsIn(issues as z.core.$ZodIssue[], parsed, planJsonSchema());
}

/** `lifeboat.plan/1`, draft 7, for editors. It accepts everything that `readPlan` accepts. */
export function planJsonSchema(): JsonSchema {
  made ??= makeSchema();
  return made;
}

let made: JsonSchema | undefined;

function makeSchema(): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(PlanFile, { io: 'input', target: 'draft-7' });
  return { $schema, $id: schemaId('plan'), title: 'plans/NAME.yaml', ...rest } as JsonSchema;
}
