import { idOfInstance } from '../../base/instance-url.ts';
import { type Entry, fieldsOf, type JournalReader } from '../journal.ts';
import type { Projection } from './projection.ts';

const KNOWN = 'known';
/** No service has longer ids; row keys are limited to this length. */
const LONGEST_ID = 200;

/**
 * The name under which a store first recorded an instance, by the id in its address. The first stays: if two
 * people begin with two names, the log orders their entries, and both see the same name.
 */
export const instanceNames: Projection = {
  name: 'instance-names',
  version: 1,
  vouched: [KNOWN],
  grows: true,
  keysOf: (entry) => [...namesIn(entry).keys()],
  fold: (row, entry, key) => {
    const name = namesIn(entry).get(key);
    if (row !== undefined || name === undefined) return row;
    return { group: KNOWN, sort: entry.at, value: name };
  },
};

/** By address; undefined if the instance has no ledger yet. */
export async function ledgerNamesOf(
  journal: Pick<JournalReader, 'rows'>,
  urls: readonly string[],
): Promise<(url: string) => string | undefined> {
  const keys = urls.flatMap((url) => idOfInstance(url) ?? []);
  const rows = await journal.rows(instanceNames.name, { group: KNOWN, keys });
  const names = new Map(rows.map(({ key, value }) => [key, value]));
  return (url) => {
    const name = names.get(idOfInstance(url) ?? '');
    return typeof name === 'string' ? name : undefined;
  };
}

/** By the instances' ids. */
function namesIn({ type, stream, body }: Entry): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const take = (name: unknown, url: unknown) => {
    const id = typeof url === 'string' ? idOfInstance(url) : undefined;
    if (typeof name === 'string' && id !== undefined && id.length <= LONGEST_ID && !names.has(id))
      names.set(id, name);
  };
  if (type === 'call.begun') take(stream.slice('instance/'.length), fieldsOf(body)['url']);
  else if (type === 'run.started') {
    const { services } = fieldsOf(body);
    for (const one of Array.isArray(services) ? services : []) {
      const { instance, url } = fieldsOf(one);
      take(instance, url);
    }
  }
  return names;
}
