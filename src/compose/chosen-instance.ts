import { EXIT, LifeboatError } from '../base/errors.ts';
import { instanceNamed } from '../config/load.ts';
import type { LoadedConfig } from '../config/loaded.ts';

/**
 * The instance that was named, or the only one there is; `usage.instance` (exit 2) where there are several.
 */
export function chosenInstance(config: LoadedConfig, named: string | undefined): string {
  if (named !== undefined) {
    instanceNamed(config, named);
    return named;
  }
  const names = Object.keys(config.instances);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return only;
  throw new LifeboatError('usage.instance', 'no instance is named, and lifeboat.yaml has not just one', {
    hints: [`add -i NAME; the instances: ${names.join(', ') || 'none'}`],
    exitCode: EXIT.usage,
  });
}
