import { shellQuoted } from '../../src/base/shell-quote.ts';
import type { RunContext } from '../context.ts';
import type { OtherWay } from '../parts/question.ts';

/** Failures that stay as long as the instance, or what leads to it, is away. */
const AWAY = /^service\.(?:unreachable|timeout|reset|error|not-found)$/u;

/** By the code of a failure that a key would end: when entering one is the way. */
const KEY_MISSING: Readonly<Record<string, string>> = {
  'key.not-stored': 'enter the key, which is asked for and not shown; then try again',
  'backup.wrong-key': 'if another key was in force: enter it, which does not show it; then try again',
};

/**
 * Where another try may lead nowhere: the commands that lead on, each with when it is the one. A source that
 * does not answer may be lost, and a recovery from it needs nothing of it.
 */
export function otherWays({ failure, run, source, restore }: RunContext): readonly OtherWay[] {
  if (failure === undefined) return [];
  const instance = shellQuoted(run.instance);
  const when = KEY_MISSING[failure.code];
  if (when !== undefined) return [{ when, command: `lifeboat keys add ${instance}` }];
  const isOfSource = source.from === undefined && restore.landed === undefined && run.mode !== 'perform';
  if (!isOfSource || !AWAY.test(failure.code)) return [];
  const target = run.target.kind === 'other' ? shellQuoted(run.target.name) : 'TARGET';
  return [
    {
      when: `if ${run.instance} is lost: stop the run, recover it into a target`,
      command: `lifeboat run disaster-recovery ${instance} --target ${target} --perform`,
    },
  ];
}
