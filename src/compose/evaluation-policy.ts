import type { LoadedConfig } from '../config/loaded.ts';
import type { EvaluationPolicy, InstanceFacts } from '../view/fleet/fleet-facts.ts';
import type { LastEvaluated } from './last-evaluated.ts';

/** What the config says about an instance, for its status; `last` says when each was evaluated. */
export function aboutOf(
  config: LoadedConfig,
  name: string,
  last: LastEvaluated,
): Pick<InstanceFacts, 'name' | 'role' | 'objectives' | 'cryptoperiod' | 'policy'> {
  const { role = 'source', objectives = {}, cryptoperiod, apps } = config.instances[name] ?? {};
  const { escrow } = config.keys;
  const { every } = config.evaluate ?? {};
  const policy: EvaluationPolicy = {
    drillEvery: config.drills?.every,
    ...(escrow === undefined ? {} : { escrow }),
    apps: apps?.length,
    waivers: config.waivers.filter(({ instance }) => instance === name),
    ...(every === undefined ? {} : { evaluate: { every, lastAt: last[name] } }),
  };
  return { name, role, objectives, cryptoperiod, policy };
}
