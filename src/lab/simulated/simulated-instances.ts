import type { InstanceWish } from '../instance-plan.ts';

/** Each with a source and its target: what a plan of a large landscape selects by. */
const REGIONS = 4;
const TIERS = 3;

/**
 * The instances of a simulated lab: `sim-00001` with continuous archiving and a backup, its empty target
 * `sim-00001-dr`, and so on, each with a key. Each source has the tag of a region and that of a tier.
 */
export function simulatedInstances(pairs: number): readonly InstanceWish[] {
  return Array.from({ length: pairs }, (_, at): readonly InstanceWish[] => {
    const name = `sim-${String(at + 1).padStart(5, '0')}`;
    const target = `${name}-dr`;
    const tags = [`region-${(at % REGIONS) + 1}`, `tier-${(at % TIERS) + 1}`];
    return [
      { name, backupType: 'continuous_archiving', key: true, tags, target },
      { name: target, role: 'target', key: true },
    ];
  }).flat();
}

/** JSON, as tens of thousands of instances are read at once; a line for each, for people and tools. */
export function simulatedConfig(facts: {
  readonly origin: string;
  readonly revision: number;
  readonly tokenFile: string;
  /** Router timeout in milliseconds; undefined uses the platform's default. */
  readonly routerMs: number | undefined;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    readonly role: 'source' | 'target';
    readonly wish: Pick<InstanceWish, 'tags' | 'target'>;
  }[];
}): string {
  const { origin, revision, routerMs, instances } = facts;
  const token = { file: facts.tokenFile };
  const lines = instances.map(({ name, guid, role, wish: { tags = [], target } }) => {
    const instance = {
      url: `${origin}/service-instances/${guid}`,
      revision,
      token,
      role,
      ...(tags.length === 0 ? {} : { tags }),
      ...(target === undefined ? {} : { target }),
      objectives: { rto: '5m', rpo: '1d' },
      inFlight: '2s',
      ...(routerMs === undefined ? {} : { router: `${routerMs / 1000}s` }),
      rehearsal: true,
      apps: [],
    };
    return `${JSON.stringify(name)}: ${JSON.stringify(instance)}`;
  });
  return `{
"platform": "none",
"lab": ${JSON.stringify({ url: origin, token })},
"instances": {
${lines.join(',\n')}
}
}
`;
}
