import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { loadConfig } from '../../config/load.ts';
import { assertFits, readPlan } from '../../plans/plan-file.ts';
import { resolvePlan } from '../../plans/resolve.ts';
import { starterPlan } from '../../plans/starter-plan.ts';
import { planPath, surroundingsOf } from './plan-files.ts';

/** `lifeboat plans init NAME`: writes a first plan, which it has checked. Never overwrites a file. */
export const plansInit: Action<{ readonly print?: boolean }> = async (context, [name = ''], { print }) => {
  const config = await loadConfig(context.env, context.configPath);
  const path = planPath(config, name);
  const text = starterPlan(name, config);
  if (text === undefined)
    throw new LifeboatError('plan.no-targets', 'no instance in lifeboat.yaml has a target', {
      hints: [
        'add the instance that takes over, with role: target, under the name of the first one and an ending: orders-dr',
        'nothing was written',
      ],
      exitCode: EXIT.usage,
    });
  const read = readPlan(text, path);
  assertFits(read, resolvePlan(read.plan, surroundingsOf(config)).misfits);
  if (print === true) {
    context.stdout.write(text);
    return EXIT.closed;
  }
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeNewFile(path, text);
  } catch (cause) {
    throw errorCode(cause) === 'EEXIST' ? planExists(path, name) : notWritten(path, cause, PRINT_INSTEAD);
  }
  const result = { plan: read.plan.plan, path };
  await printResult(context, 'plan-file', result, () =>
    context.stdout.write(
      `${show(path, 200)} is written; what it would do: lifeboat plans check ${show(name, 80)}\n`,
    ),
  );
  return EXIT.closed;
};

const PRINT_INSTEAD = 'to print it instead: add --print';

function planExists(path: string, name: string): LifeboatError {
  return new LifeboatError(
    'plan.exists',
    `${show(path, 200)} already exists, and a plan is not overwritten`,
    {
      hints: [
        'nothing was written',
        `what the one that is there would do: lifeboat plans check ${shellQuoted(show(name, 80))}`,
        PRINT_INSTEAD,
        'or give it another name: lifeboat plans init NAME',
      ],
      exitCode: EXIT.usage,
    },
  );
}
