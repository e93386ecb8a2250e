import { Config } from '../../src/config/schema.ts';
import type { Surroundings } from '../../src/plans/resolve.ts';

/** A config with `count` instances, db-1 and so on, each with a target of the name `db-1-dr`. */
export function surroundingsWith(count: number): Surroundings {
  const names = Array.from({ length: count }, (_, at) => `db-${at + 1}`);
  const one = (name: string, more: object) => [
    name,
    { url: `https://127.0.0.1/service-instances/${name}`, ...more },
  ];
  const { instances } = Config.parse({
    instances: Object.fromEntries(
      names.flatMap((name, at) => [
        one(name, { tags: [`tier-${(at % 3) + 1}`] }),
        one(`${name}-dr`, { role: 'target' }),
      ]),
    ),
  });
  return { instances, hasApprovers: false, notified: ['ops'] };
}
