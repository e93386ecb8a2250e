import type { Check, Plan, Step } from '../../machines/parts/plan.ts';
import type { Misfit } from './resolve.ts';

/**
 * What a plan may have and should not: checks that cannot fail, and steps whose way back nobody has written
 * down. Each with its place in the file. Pure.
 */
export function weaknessesIn({ groups, healthy, finally: last }: Plan): readonly Misfit[] {
  return [
    ...groups.flatMap(({ steps }, at) =>
      steps.flatMap((step, index) => findingsOf(step, ['groups', at, 'steps', index])),
    ),
    ...healthy.flatMap((check, at) => cannotFail(check, ['healthy', at])),
    ...(last?.steps ?? []).flatMap((step, at) => findingsOf(step, ['finally', 'steps', at])),
    ...(healthy.length === 0
      ? [
          {
            path: ['plan'],
            message: 'it has no `healthy`: its recovery time ends with the last step, whatever works then',
          },
        ]
      : []),
  ];
}

function findingsOf(step: Step, path: Misfit['path']): readonly Misfit[] {
  const undo =
    step.undo === undefined && CHANGES.has(step.kind)
      ? [
          {
            path: [...path, 'id'],
            message: `${step.id} has no undo: say how it is taken back, or "none; WHY"`,
          },
        ]
      : [];
  return step.kind === 'check' ? cannotFail(step.check, [...path, 'check']) : undo;
}

/** Kinds that change something outside of lifeboat. */
const CHANGES: ReadonlySet<Step['kind']> = new Set(['runbook', 'manual', 'command']);

/** Programs that always end well. */
const ALWAYS_TRUE = new Set(['true', ':', 'echo', 'printf']);

function cannotFail(check: Check, path: Misfit['path']): readonly Misfit[] {
  const why = whyNever(check);
  return why === undefined ? [] : [{ path: [...path], message: `this check cannot fail: ${why}` }];
}

function whyNever({ sql, reconcile, command, expect = {} }: Check): string | undefined {
  const { rows, age, exit = 0 } = expect;
  if (sql !== undefined || reconcile === true) {
    if (rows === undefined && age === undefined)
      return 'an empty database answers as well; say with `expect` how many rows there are, or how new they are';
    if (age === undefined && rows !== undefined && /^(?:>=\s*0+|>\s*-\d+|>=\s*-\d+)$/u.test(rows))
      return 'an empty database has that many rows as well';
  }
  const [program = ''] = command ?? [];
  if (exit === 0 && expect.text === undefined && ALWAYS_TRUE.has(program))
    return `${program} always ends well`;
  return undefined;
}
