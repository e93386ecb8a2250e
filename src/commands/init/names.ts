import type { ListedInstance } from '../../platform/cf/instances.ts';

/** A service instance with the name that the config gives it. */
export interface Named {
  readonly name: string;
  readonly listed: ListedInstance;
}

/**
 * A name of the config for each service instance: its own, with a dash for what a config does not take. Of
 * several with one name, each has its space behind it, else its org, else a number.
 */
export function namesFor(instances: readonly ListedInstance[]): Named[] {
  const taken = new Set<string>();
  return instances.map((listed) => {
    const { name, space, org } = listed;
    const isAlone = instances.filter((other) => plain(other.name) === plain(name)).length === 1;
    const longer = [
      [name, space],
      [name, space, org],
    ].map((parts) => plain(parts.filter(Boolean).join('-')));
    const numbered = Array.from(instances, (_, at) => plain(`${name.slice(0, 50)}-${at + 1}`));
    const free = [...(isAlone ? [plain(name)] : []), ...longer, ...numbered].find((one) => !taken.has(one));
    taken.add(free ?? plain(name));
    return { name: free ?? plain(name), listed };
  });
}

/** As the config takes it (schema.ts): letters, digits, dots, dashes; `lifeboat` is reserved. */
function plain(name: string): string {
  const text = name
    .replace(/[^A-Za-z0-9._-]+/gu, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/gu, '')
    .slice(0, 63);
  if (text === '') return 'service-instance';
  return text === 'lifeboat' ? 'lifeboat-service' : text;
}
