import type { LoadedConfig } from '../config/loaded.ts';
import type { EvaluationPolicy, InstanceFacts } from '../view/fleet/fleet-facts.ts';

/** What the config says about an instance, for its status. */
export function aboutOf(
  config: LoadedConfig,
  name: string,
): Pick<InstanceFacts, 'name' | 'role' | 'objectives' | 'cryptoperiod' | 'policy'> {
  const { role = 'source', objectives = {}, cryptoperiod, apps } = config.instances[name] ?? {};
  const { escrow } = config.keys;
  const policy: EvaluationPolicy = {
    drillEvery: config.drills?.every,
    ...(escrow === undefined ? {} : { escrow }),
    apps: apps?.length,
  };
  return { name, role, objectives, cryptoperiod, policy };
}
