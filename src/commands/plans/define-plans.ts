import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';

/** The commands about plans: whether what they need is there. */
export function definePlans(program: Command, command: Define): void {
  const plans = group(program, 'plans', 'evaluate whether a recovery could begin', {
    about: 'An evaluation asks every check of an instance, and puts what changed on record.',
  });
  command(
    plans,
    'evaluate',
    'evaluate each instance, and record what changed',
    async () => (await import('./evaluate.ts')).plansEvaluate,
    [
      instance('only this instance, with every check'),
      new Option('--limit <duration>', 'how long each may take, at most 1h (default: 20s)'),
    ],
    {
      about: `It sends only GETs. An instance is PROVEN, READY, NOT READY or UNKNOWN. Exit
code 1 when one is NOT READY, 3 when one is UNKNOWN and none NOT READY. An entry
is written only for an instance whose verdict or findings changed.`,
      examples: ['lifeboat plans evaluate', 'lifeboat plans evaluate -i orders -o json'],
    },
  );
}
