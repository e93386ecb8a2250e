import { hasCode } from '../problem.ts';
import { type Capi, listAll, NOT_TOLD } from './capi.ts';
import { Organization, Space } from './schemas.ts';

/** A space and its organization by name. Absent: this token may not see it. */
export interface Place {
  readonly space?: string;
  readonly org?: string;
}

/** A list of guids in an address stays far below what routers take. */
const AT_ONCE = 50;

/** The names of the spaces with these guids. A space that the token may not see is left out. */
export async function placesOf(
  capi: Capi,
  spaceGuids: Iterable<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Place>> {
  const spaces = await byGuids(capi, '/v3/spaces', spaceGuids, Space, signal);
  const orgGuids = spaces.flatMap((space) => space.relationships?.organization?.data?.guid ?? []);
  const orgs = await byGuids(capi, '/v3/organizations', orgGuids, Organization, signal);
  const orgNames = new Map(orgs.map(({ guid, name }) => [guid, name]));
  return new Map(
    spaces.map((space) => {
      const org = orgNames.get(space.relationships?.organization?.data?.guid ?? '');
      return [space.guid, { space: space.name, ...(org === undefined ? {} : { org }) }];
    }),
  );
}

async function byGuids<T>(
  capi: Capi,
  path: string,
  guids: Iterable<string>,
  schema: Parameters<typeof listAll<T>>[3],
  signal: AbortSignal,
): Promise<T[]> {
  const wanted = [...new Set(guids)];
  const found: T[] = [];
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    const query = { guids: wanted.slice(from, from + AT_ONCE).join(',') };
    try {
      found.push(...(await listAll(capi, path, query, schema, signal)));
    } catch (thrown) {
      // Names are for people; without them everything still goes by guid.
      if (!hasCode(thrown, ...NOT_TOLD)) throw thrown;
    }
  }
  return found;
}
