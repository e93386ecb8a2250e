import type { Check, Plan, Step } from '../../machines/parts/plan.ts';
import { comparedAge, comparedCount } from '../base/comparison.ts';
import { isNoReason, noReasonWords } from '../base/reason.ts';
import { tcpAddress } from '../base/tcp-address.ts';
import type { Misfit } from './resolve.ts';

/** Mistakes that would only show in the middle of a recovery, each with its place in the file. Pure. */
export function problemsOfPlan({ groups, healthy, finally: last, objectives }: Plan): readonly Misfit[] {
  const ofCheck = (check: Check, at: Misfit['path']) =>
    [...problemsOfCheck(check), ...problemsOfObjectives(check, objectives)].map(({ path, message }) => ({
      path: [...at, ...path],
      message,
    }));
  const ofSteps = (steps: readonly Step[], above: Misfit['path']) =>
    steps.flatMap((step, index) => {
      const at = [...above, 'steps', index];
      return [
        ...problemsOfReason(step).map((message) => ({ path: [...at, 'because'], message })),
        ...(step.kind === 'check' ? ofCheck(step.check, [...at, 'check']) : []),
      ];
    });
  return [
    ...groups.flatMap(({ steps }, at) => ofSteps(steps, ['groups', at])),
    ...healthy.flatMap((check, at) => ofCheck(check, ['healthy', at])),
    ...ofSteps(last?.steps ?? [], ['finally']),
  ];
}

/** A run takes no such words when it passes the step. */
function problemsOfReason({ because }: Step): readonly string[] {
  return because !== undefined && isNoReason(because) ? [noReasonWords(because)] : [];
}

/** What each kind of check looks at; anything else in `expect` would be ignored. */
const LOOKS_AT = {
  http: ['status', 'text'],
  sql: ['rows', 'age', 'text', 'exit'],
  reconcile: ['rows', 'age'],
  tcp: [],
  command: ['exit', 'text', 'rows', 'age'],
} as const satisfies Record<string, readonly (keyof NonNullable<Check['expect']>)[]>;

interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

function problemsOfCheck(check: Check): readonly Problem[] {
  const { tcp, expect = {} } = check;
  const kinds = Object.keys(LOOKS_AT) as (keyof typeof LOOKS_AT)[];
  const kind = kinds.find((key) => check[key] !== undefined);
  if (kind === undefined) return [];
  const looksAt: readonly string[] = LOOKS_AT[kind];
  const ignored = Object.keys(expect).filter((key) => !looksAt.includes(key));
  const takes = looksAt.length === 0 ? 'nothing of `expect`' : looksAt.join(', ');
  const { rows, age } = expect;
  return [
    ...(tcp === undefined || tcpAddress(tcp) !== undefined
      ? []
      : [
          {
            path: ['tcp'],
            message: 'this is not HOST:PORT with a port from 1 to 65535: db.example.com:5432',
          },
        ]),
    ...ignored.map((key) => ({
      path: ['expect', key],
      message: `a check by ${kind} does not look at this: it takes ${takes}`,
    })),
    ...(rows === undefined || comparedCount(rows) !== undefined
      ? []
      : [{ path: ['expect', 'rows'], message: 'a sign and a number belong here: ">= 1000"' }]),
    ...(age === undefined || comparedAge(withObjective(age)) !== undefined
      ? []
      : [{ path: ['expect', 'age'], message: 'a sign and a duration belong here: "<= 1h", "<= {rpo}"' }]),
  ];
}

const OBJECTIVES = ['rpo', 'rto'] as const;

function withObjective(age: string): string {
  return OBJECTIVES.reduce((text, name) => text.replace(`{${name}}`, '1h'), age);
}

/** Of a check whose age names an objective that the plan has not. */
function problemsOfObjectives(
  { expect: { age } = {} }: Check,
  objectives: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  return OBJECTIVES.filter((name) => age?.includes(`{${name}}`) && objectives[name] === undefined).map(
    (name) => ({ path: ['expect', 'age'], message: `the plan has no ${name}: add it to \`objectives\`` }),
  );
}
