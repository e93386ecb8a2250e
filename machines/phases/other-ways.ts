import { shellQuoted } from '../../src/base/shell-quote.ts';
import type { RunContext } from '../context.ts';
import type { OtherWay } from '../parts/question.ts';

/** Failures that stay as long as the instance, or what leads to it, is away. */
const AWAY = /^service\.(?:unreachable|timeout|reset|error|not-found)$/u;

/** By the code of a failure that a key would end: when entering one is the way. */
const KEY_MISSING: Readonly<Record<string, string>> = {
  'key.not-stored': 'enter the key, which is asked for and not shown',
  'backup.wrong-key': 'if another key was in force: enter it, which does not show it',
};

/**
 * Where another try may lead nowhere: the commands that lead on, each with when it is the one. A source that
 * does not answer may be lost, and a recovery from it needs nothing of it. `isOver` for a run that was stopped
 * there, and has to be neither stopped nor tried again.
 */
export function otherWays(
  { failure, run, source, restore }: RunContext,
  isOver = false,
): readonly OtherWay[] {
  if (failure === undefined) return [];
  const instance = shellQuoted(run.instance);
  const when = KEY_MISSING[failure.code];
  if (when !== undefined) {
    const leadsTo = { kind: 'add-key', instance: run.instance } as const;
    const then = isOver ? 'then begin again' : 'then try again';
    return [{ when: `${when}; ${then}`, command: `lifeboat keys add ${instance}`, leadsTo }];
  }
  const isOfSource = source.from === undefined && restore.landed === undefined && run.mode !== 'perform';
  if (!isOfSource || !AWAY.test(failure.code)) return [];
  const named = run.target.kind === 'other' ? { target: run.target.name } : {};
  const target = named.target === undefined ? 'TARGET' : shellQuoted(named.target);
  return [
    {
      when: `if ${run.instance} is lost: ${isOver ? '' : 'stop the run, '}recover it into a target`,
      command: `lifeboat run disaster-recovery ${instance} --target ${target} --perform`,
      leadsTo: { kind: 'recover', instance: run.instance, ...named },
    },
  ];
}
