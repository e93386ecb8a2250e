import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Bound, BoundApp, ServiceKey } from '../../machines/parts/recovery-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import { readPrivateFile, replacePrivateFile } from '../keys/private-file.ts';
import type { BindingParameters, FoundBindings, Platform } from '../platform/platform.ts';
import { type ActivityContext, type ActivityOf, ok, readVerb } from './activity.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * The applications of the config and of the platform. Parameters of bindings are on disk when it ends, so it
 * is called before anything is unbound. A platform that is missing or cannot be asked is no failure:
 * everything is then done by hand and a note says why. Fails with `app.unknown` for an unknown name, and with
 * `credentials.*` if the config names a platform, since only a new token is missing. `target` is the other
 * side of the run.
 */
export function findBound(deps: ActivityDeps, target?: ActivityDeps): ActivityOf<'findBound'> {
  return readVerb(async ({ restored, only, remember }, context) => {
    const seen = await lookAround(deps, restored === 'target' ? target : deps, restored, context.signal);
    const merged = mergeApps(deps.apps ?? [], seen.from?.apps ?? [], seen.way !== 'hand');
    const apps = chosen(remembering(merged.apps, remember, context.runId), only);
    const keys = mergeKeys(seen.from?.keys ?? [], remember?.keys ?? []);
    const kept = {
      apps: await keepAll(apps, deps.folder, context),
      keys: await keepKeys(keys, deps.folder, context),
    };
    // A restore locks out everything bound (service-api.md section 1), even if no platform can be asked.
    const isUnknown = seen.unasked === 'none' && apps.length === 0 && deps.apps === undefined;
    const isUnasked = seen.unasked === 'failed' || isUnknown;
    const from = seen.from?.instance ?? remember?.from;
    const to = seen.to ?? remember?.to;
    return ok({
      way: seen.way,
      ...(seen.platform === undefined ? {} : { platform: seen.platform }),
      notes: [...seen.notes, ...merged.notes, ...unseenNotes(seen.from), ...unreportedNotes(seen.from, kept)],
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...kept,
      unseen: [...(seen.from?.unseen ?? remember?.unseen ?? [])],
      order: restored === 'instance' && seen.from?.allowsTwoBindings === true ? 'no-downtime' : 'replace',
      foundAt: context.now().toISOString(),
      ...(isUnasked ? { unasked: true } : {}),
    });
  });
}

interface Seen {
  readonly way: Bound['way'];
  readonly platform?: Bound['platform'];
  readonly notes: readonly string[];
  readonly from?: FoundBindings | undefined;
  readonly to?: Bound['to'];
  /** `none`: there is no platform; `failed`: it could not be asked. */
  readonly unasked?: 'none' | 'failed';
}

async function lookAround(
  deps: ActivityDeps,
  restored: ActivityDeps | undefined,
  side: InputOf<'findBound'>['restored'],
  signal: AbortSignal,
): Promise<Seen> {
  const platform = await deps.platform();
  if ('none' in platform) {
    const notes = [`by hand: ${show(platform.none)}`];
    return { way: 'hand', platform: platform.by === 'config' ? 'none' : undefined, notes, unasked: 'none' };
  }
  try {
    const from = await findHere(platform, deps.dashboardUrl, signal);
    const to =
      side === 'instance' ? from : restored && (await findHere(platform, restored.dashboardUrl, signal));
    const notes = from === undefined ? [`the platform does not show ${show(deps.name, 100)}`] : [];
    if (to !== undefined) return { way: platform.way, notes, from, to: to.instance };
    const name = show(restored?.name ?? 'the target', 100);
    return {
      way: 'hand',
      notes: [...new Set([...notes, `by hand: the platform does not show ${name}`])],
      from,
      ...(from === undefined ? { unasked: 'failed' } : {}),
    };
  } catch (thrown) {
    const { code, shortMessage } = failureOf(thrown);
    if (signal.aborted || !(thrown instanceof LifeboatError)) throw thrown;
    if (code.startsWith('credentials.') && platform.way === 'platform') throw thrown;
    return { way: 'hand', notes: [`by hand: ${shortMessage}`], unasked: 'failed' };
  }
}

async function findHere(
  platform: Platform,
  dashboardUrl: string,
  signal: AbortSignal,
): Promise<FoundBindings | undefined> {
  try {
    return await platform.find(dashboardUrl, signal);
  } catch (thrown) {
    if (failureOf(thrown).code === 'platform.not-found') return undefined;
    throw thrown;
  }
}

function chosen(apps: readonly FoundApp[], only: readonly string[] | undefined): readonly FoundApp[] {
  if (only === undefined) return apps;
  const isNamed = (app: FoundApp, name: string) => app.name === name || app.key === name;
  const unknown = only.filter((name) => !apps.some((app) => isNamed(app, name)));
  if (unknown.length === 0) return apps.filter((app) => only.some((name) => isNamed(app, name)));
  const known = apps.slice(0, 20).map(({ key }) => show(key, 100));
  throw new LifeboatError('app.unknown', `no application ${show(unknown.join(', '), 120)} is bound`, {
    hints: [known.length === 0 ? 'none is known' : `known: ${known.join(', ')}`],
  });
}

/** Moves the parameters into files. */
function keepAll(apps: readonly FoundApp[], folder: string, { runId }: ActivityContext): Promise<BoundApp[]> {
  return Promise.all(
    apps.map(async ({ parameters, bindings, ...bound }) => {
      if (parameters === undefined || bound.binding === undefined) return bound;
      const kept = await keepParameters(folder, runId, bound.key, parameters);
      return { ...bound, binding: { ...bound.binding, ...kept } };
    }),
  );
}

function keepKeys(
  keys: FoundBindings['keys'],
  folder: string,
  { runId }: ActivityContext,
): Promise<ServiceKey[]> {
  return Promise.all(
    keys.map(async ({ parameters, ...key }) => {
      if (parameters === undefined) return key;
      // No application's key has this form.
      return { ...key, ...(await keepParameters(folder, runId, `service key: ${key.name}`, parameters)) };
    }),
  );
}

function unseenNotes(from: FoundBindings | undefined): string[] {
  return (from?.unseen ?? []).map(
    ({ space, apps }) =>
      `${apps} more are bound in space ${show(space, 100)}, which this token cannot see: ask somebody who can`,
  );
}

/** Only if something is bound whose parameters were not kept from an earlier look. */
function unreportedNotes(
  from: FoundBindings | undefined,
  { apps, keys }: { readonly apps: readonly BoundApp[]; readonly keys: readonly ServiceKey[] },
): string[] {
  const why = from?.parametersUnreported;
  const files = [...apps.flatMap(({ binding }) => binding ?? []), ...keys];
  if (why === undefined || files.every(({ parametersFile }) => parametersFile !== undefined)) return [];
  return [
    `binding parameters (-c) could not be read: ${show(why, 200)}; where a binding had any, bind by hand with them`,
  ];
}

export type FoundApp = FoundBindings['apps'][number];
type NamedApp = NonNullable<ActivityDeps['apps']>[number];

export interface MergedApps {
  readonly apps: readonly FoundApp[];
  readonly notes: readonly string[];
}

/**
 * Each once, with a unique key: the name, plus space and org if names repeat. `asked`: a platform answered;
 * without it, no note says which side knows an application.
 */
function mergeApps(named: readonly NamedApp[], found: readonly FoundApp[], asked: boolean): MergedApps {
  const isMeant = (app: FoundApp) => named.some((one) => isSame(one, app));
  const unknown = named.filter((one) => !found.some((app) => isSame(one, app)));
  const apps: FoundApp[] = [
    ...found.map((app) => ({
      ...app,
      ...givenBy(named, app),
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

/** A binding that is gone now was found by the earlier look. */
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
  /** Of the earlier look. RFC 3339. */
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
 * The binding to remove is the one found first, even if it is gone by now: newer ones were bound to the
 * restored data by this run or by someone else. Only if another one replaced it before that does the present
 * look count; the properties of the next one always come from the earlier look.
 */
function bindingOf(app: FoundApp, then: BoundApp, { runId, foundAt }: Memory): BoundApp['binding'] {
  if (app.binding === undefined || then.binding === undefined) return app.binding ?? then.binding;
  const now = app.bindings?.find(({ guid }) => guid === app.binding?.guid);
  const isThere = app.bindings?.some(({ guid }) => guid === then.binding?.guid) ?? false;
  const isNew = now?.run === runId || msOf(now?.createdAt) > msOf(foundAt);
  return isThere || isNew ? then.binding : { ...then.binding, ...app.binding };
}

/** Includes keys of an earlier look that are gone: a removed one must be made again. */
export function mergeKeys(now: FoundBindings['keys'], then: readonly ServiceKey[]): FoundBindings['keys'] {
  const kept = now.map((key) => ({ ...then.find(({ name }) => name === key.name), ...key }));
  return [...kept, ...then.filter(({ name }) => !now.some((key) => key.name === name))];
}

/** An entry of the config means this application. */
export function isSame(
  one: Pick<NamedApp, 'name' | 'space' | 'org'>,
  app: Pick<BoundApp, 'name' | 'space' | 'org'>,
): boolean {
  const agrees = (wanted: string | undefined, is: string | undefined) =>
    wanted === undefined || is === undefined || wanted === is;
  return one.name === app.name && agrees(one.space, app.space) && agrees(one.org, app.org);
}

/** From the config. */
function givenBy(named: readonly NamedApp[], app: FoundApp): Pick<BoundApp, 'owner' | 'reconnect'> {
  const meant = named.filter((one) => isSame(one, app));
  const owner = meant.find((one) => one.owner !== undefined)?.owner;
  const reconnect = meant.find((one) => one.reconnect !== undefined)?.reconnect;
  return { ...(owner === undefined ? {} : { owner }), ...reconnectOf({ reconnect }) };
}

/** In the journal's form: it is compared with the config again before it is run. */
export function reconnectOf({ reconnect }: Pick<NamedApp, 'reconnect'>): Pick<BoundApp, 'reconnect'> {
  if (reconnect === undefined) return {};
  return { reconnect: { command: [...reconnect.command], proof: [...reconnect.proof] } };
}

function fromConfig({ name, space, org, owner, reconnect }: NamedApp): FoundApp {
  return {
    key: name,
    name,
    ...(space === undefined ? {} : { space }),
    ...(org === undefined ? {} : { org }),
    ...(owner === undefined ? {} : { owner }),
    ...reconnectOf({ reconnect }),
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

interface KeptParameters {
  readonly parametersFile: string;
  /** Of the file's bytes, lower-case hex. */
  readonly parametersSha256: string;
}

const KIND = { name: 'file of binding parameters', mayBeLinkOrPipe: false };

/**
 * In a file for the run that only its owner can read; the same parameters produce the same file. When it
 * resolves they are on disk, so the binding may be removed. Rejects with `keys.io` and `trust.refused`.
 */
async function keepParameters(
  folder: string,
  runId: string,
  key: string,
  parameters: BindingParameters,
): Promise<KeptParameters> {
  const own = join(dirname(folder), 'bindings', fileName(runId));
  makeFolderInside(dirname(folder), own);
  const bytes = Buffer.from(`${JSON.stringify(parameters)}\n`);
  const parametersFile = join(own, `${fileName(key)}.json`);
  await replacePrivateFile(parametersFile, bytes);
  return { parametersFile, parametersSha256: sha256(bytes) };
}

/** Rejects with `binding.parameters-lost` if the file is missing or changed. */
export async function readParameters(
  kept: { readonly [Name in keyof KeptParameters]?: string | undefined },
): Promise<BindingParameters | undefined> {
  if (kept.parametersFile === undefined) return undefined;
  const bytes = await readPrivateFile(kept.parametersFile, KIND);
  if (bytes === undefined) throw lost('is gone', kept.parametersFile);
  if (kept.parametersSha256 !== undefined && sha256(bytes) !== kept.parametersSha256) {
    throw lost('was changed since it was written', kept.parametersFile);
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as BindingParameters;
  } catch {
    throw lost('cannot be read', kept.parametersFile);
  }
}

/** A name from the platform must not lead out of the folder or collide with another. */
function fileName(name: string): string {
  if (/^[\w][\w.-]{0,80}$/u.test(name)) return name;
  const plain = name.replace(/[^\w.-]+/gu, '_').slice(0, 40);
  return `_${plain}-${sha256(Buffer.from(name)).slice(0, 12)}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function lost(why: string, file: string): LifeboatError {
  return new LifeboatError('binding.parameters-lost', `the file with the parameters of the binding ${why}`, {
    hints: [
      'nothing was bound: without them the application might get a binding that it cannot use',
      'bind it by hand with its parameters (cf bind-service … -c FILE), then say that it is done',
    ],
    evidence: { file },
  });
}
