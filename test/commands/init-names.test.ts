import { expect, test } from 'vitest';
import { namesFor } from '../../src/commands/init/choose.ts';
import { InstanceName } from '../../src/config/schema.ts';

test.for<
  readonly [string, readonly (readonly [name: string, space?: string, org?: string])[], readonly string[]]
>([
  ['its own name', [['orders'], ['billing']], ['orders', 'billing']],
  [
    'what a config takes of it',
    [['orders db (new)'], ['é'], ['lifeboat']],
    ['orders-db-new', 'service-instance', 'lifeboat-service'],
  ],
  [
    'its space, where two have one name',
    [
      ['db', 'prod'],
      ['db', 'stage'],
    ],
    ['db-prod', 'db-stage'],
  ],
  [
    'its org, where that is not enough',
    [
      ['db', 'prod', 'a'],
      ['db', 'prod', 'b'],
    ],
    ['db-prod', 'db-prod-b'],
  ],
  ['a number at last', [['db'], ['db'], ['db']], ['db', 'db-1', 'db-2']],
])('a service instance gets %s', ([, shown, expected]) => {
  const instances = shown.map(([name, space, org], at) => ({
    guid: String(at),
    name,
    ...(space === undefined ? {} : { space }),
    ...(org === undefined ? {} : { org }),
    dashboardUrl: 'https://h/service-instances/i',
  }));
  const names = namesFor(instances).map(({ name }) => name);
  expect(names).toEqual(expected);
  for (const name of names) expect(InstanceName.safeParse(name).success).toBe(true);
});
