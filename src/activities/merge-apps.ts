import type { Bound, BoundApp, ServiceKey } from '../../machines/parts/recovery-data.ts';
import { show } from '../base/text.ts';
import type { FoundBindings } from '../platform/platform.ts';
import type { ActivityDeps } from './deps.ts';

export type FoundApp = FoundBindings['apps'][number];
type NamedApp = ActivityDeps['apps'][number];

export interface MergedApps {
  readonly apps: readonly FoundApp[];
  readonly notes: readonly string[];
}

/**
 * The applications of the config and of the platform, each once, with a key of its own: the name, and space
 * and org with it where names repeat. `asked` is false when no platform could be asked; then nothing is said
 * about who knows what.
 */
export function mergeApps(
  named: readonly NamedApp[],
  found: readonly FoundApp[],
  asked: boolean,
): MergedApps {
  const isMeant = (app: FoundApp) => named.some((one) => isSame(one, app));
  const unknown = named.filter((one) => !found.some((app) => isSame(one, app)));
  const apps: FoundApp[] = [
    ...found.map((app) => ({
      ...app,
      ...ownerOf(named, app),
      from: isMeant(app) ? ('both' as const) : ('platform' as const),
    })),
    ...unknown.map((one) => fromConfig(one)),
  ];
  const notes = asked
    ? [
        ...unknown.map(
          ({ name }) => `${show(name, 100)} is named in the config; the platform shows no binding of it`,
        ),
        ...apps.flatMap(({ from, name }) =>
          from === 'platform' && named.length > 0
            ? [`${show(name, 100)} is bound at the platform and not named in the config`]
            : [],
        ),
      ]
    : [];
  return { apps: withKeys(apps), notes };
}

/** What an earlier look has found is kept: a binding that is gone now was there then. */
export function remembering(
  apps: readonly FoundApp[],
  remember: Bound | undefined,
  runId: string,
): readonly FoundApp[] {
  if (remember === undefined) return apps;
  const kept = apps.map((app) => {
    const then = remember.apps.find(({ key }) => key === app.key);
    return then === undefined ? app : withMemory(app, then, { runId, foundAt: remember.foundAt });
  });
  const gone = remember.apps.filter(({ key }) => !apps.some((app) => app.key === key));
  return [...kept, ...gone];
}

interface Memory {
  readonly runId: string;
  /** When the earlier look was. RFC 3339. */
  readonly foundAt: string;
}

function withMemory(app: FoundApp, then: BoundApp, memory: Memory): FoundApp {
  const binding = bindingOf(app, then, memory);
  const guid = app.guid ?? then.guid;
  const running = then.running ?? app.running;
  return {
    ...app,
    ...(guid === undefined ? {} : { guid }),
    ...(running === undefined ? {} : { running }),
    ...(binding === undefined ? {} : { binding }),
    from: app.from === then.from ? app.from : 'both',
  };
}

/**
 * The binding that has to go is the one that was found first, also when it is gone by now: what was made
 * since then is what this run, or somebody, has bound to the restored data. Only where another one has taken
 * its place before that does the look of now count; what the next one must be like is taken from the earlier
 * look in any case.
 */
function bindingOf(app: FoundApp, then: BoundApp, { runId, foundAt }: Memory): BoundApp['binding'] {
  if (app.binding === undefined || then.binding === undefined) return app.binding ?? then.binding;
  const now = app.bindings?.find(({ guid }) => guid === app.binding?.guid);
  const isThere = app.bindings?.some(({ guid }) => guid === then.binding?.guid) ?? false;
  const isNew = now?.run === runId || Date.parse(now?.createdAt ?? '') > Date.parse(foundAt);
  return isThere || isNew ? then.binding : { ...then.binding, ...app.binding };
}

/** The keys of now, and those of an earlier look that are gone: one that was removed has to be made again. */
export function mergeKeys(now: FoundBindings['keys'], then: readonly ServiceKey[]): FoundBindings['keys'] {
  const kept = now.map((key) => ({ ...then.find(({ name }) => name === key.name), ...key }));
  return [...kept, ...then.filter(({ name }) => !now.some((key) => key.name === name))];
}

function isSame(one: NamedApp, app: FoundApp): boolean {
  const agrees = (wanted: string | undefined, is: string | undefined) =>
    wanted === undefined || is === undefined || wanted === is;
  return one.name === app.name && agrees(one.space, app.space) && agrees(one.org, app.org);
}

function ownerOf(named: readonly NamedApp[], app: FoundApp): { readonly owner?: string } {
  const owner = named.find((one) => isSame(one, app))?.owner;
  return owner === undefined ? {} : { owner };
}

function fromConfig({ name, space, org, owner }: NamedApp): FoundApp {
  return {
    key: name,
    name,
    ...(space === undefined ? {} : { space }),
    ...(org === undefined ? {} : { org }),
    ...(owner === undefined ? {} : { owner }),
    from: 'config',
  };
}

function withKeys(apps: readonly FoundApp[]): readonly FoundApp[] {
  const seen = new Map<string, number>();
  for (const { name } of apps) seen.set(name, (seen.get(name) ?? 0) + 1);
  const used = new Set<string>();
  return apps.map((app) => {
    const wide = [app.org, app.space, app.name].filter((part) => part !== undefined).join('/');
    const wanted = seen.get(app.name) === 1 ? app.name : wide;
    const key = used.has(wanted) ? `${wanted} ${app.guid ?? used.size}` : wanted;
    used.add(key);
    return { ...app, key };
  });
}
