import { type Touches, touchesOf } from '../../machines/parts/touches.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { plainAddress } from '../base/redact.ts';
import type { CommandContext } from '../cli/context.ts';
import { type LoadedConfig, tokenVariables } from '../config/loaded.ts';
import type { Config } from '../config/schema.ts';
import type { Awaited, Awaits } from '../service/awaited.ts';
import type { JournalReader } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { openRequestRecorder, type RequestRecorder } from './request-recorder.ts';
import { type OpenInstance, openForRun } from './service-of.ts';
import type { Workspace } from './workspace.ts';

export interface RunInstances extends AsyncDisposable {
  /** The config that they come from, which also names the approvers. */
  readonly config: LoadedConfig;
  readonly instance: OpenInstance;
  readonly target: OpenInstance | undefined;
  readonly platform: ActivityDeps['platform'];
  readonly recorder: RequestRecorder;
  /** What is being waited for; of several, the one that began first. */
  readonly awaited: () => Awaited | undefined;
}

export type DrivenRun = Pick<RunSummary, 'runId' | 'runbook' | 'instance' | 'version'> & {
  readonly target?: string | undefined;
};

/**
 * Opens what a run acts on. Only `revision: auto` sends anything, and never to a source that the run does not
 * call. Rejects with a usage error if the config lacks something.
 */
export async function openInstances(
  context: CommandContext,
  config: LoadedConfig,
  keys: Pick<Workspace, 'keyring'> & Partial<Pick<Workspace, 'pace'>>,
  wish: {
    readonly instance: string;
    readonly target?: string | undefined;
    readonly tokenFile?: string | undefined;
    /** What the run does to its instance; see `touchesOf`. */
    readonly source: Touches['source'];
  },
): Promise<RunInstances> {
  await using opened = new AsyncDisposableStack();
  const recorder = openRequestRecorder();
  opened.defer(() => recorder.close());
  const waits = new Set<Awaited>();
  const awaits: Awaits = (awaited) => {
    waits.add(awaited);
    return () => waits.delete(awaited);
  };
  const open = (name: string, silent = false) =>
    openForRun(context, silent ? withoutAsking(config, name) : config, keys, name, {
      tokenFile: wish.tokenFile,
      tap: recorder.service(name),
      awaits,
    });
  const instance = opened.use(await open(wish.instance, wish.source === 'not-called'));
  const target = wish.target === undefined ? undefined : opened.use(await open(wish.target));
  const { platform, close } = lazyPlatform(context, config, recorder, awaits);
  opened.defer(close);
  const kept = opened.move();
  const awaited = () => [...waits][0];
  return {
    config,
    instance,
    target,
    platform,
    recorder,
    awaited,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** What a resumed run acts on. For an unknown runbook, no source is called. */
export async function instancesOfRun(
  journal: JournalReader,
  { runId, runbook, instance, target }: Pick<RunSummary, 'runId' | 'runbook' | 'instance' | 'target'>,
  tokenFile: string | undefined,
) {
  const [started] = await journal.read(`run/${runId}`);
  const { input } = (started?.body ?? {}) as { readonly input?: unknown };
  return { instance, target, tokenFile, source: touchesOf(runbook, input)?.source ?? 'not-called' };
}

/** `revision: auto` would ask an instance that may be gone; an uncalled one needs no revision. */
function withoutAsking(config: LoadedConfig, name: string): LoadedConfig {
  const instance = config.instances[name];
  if (instance === undefined || instance.revision !== 'auto') return config;
  return { ...config, instances: { ...config.instances, [name]: { ...instance, revision: 62 } } };
}

/** Addresses and revisions of a run's instances, for its first entry. Without secrets. */
export function servicesOfRun(
  { instances }: Pick<Config, 'instances'>,
  { instance, target }: { readonly instance: string; readonly target?: string | undefined },
): { readonly instance: string; readonly url: string; readonly revision: string }[] {
  return [...new Set([instance, target ?? instance])].flatMap((name) => {
    const config = Object.hasOwn(instances, name) ? instances[name] : undefined;
    if (config === undefined) return [];
    return [{ instance: name, url: plainAddress(config.url) ?? '', revision: String(config.revision) }];
  });
}

/** The configured platform, opened once, on first use. `close` closes it if it was opened. */
export function lazyPlatform(
  context: CommandContext,
  config: LoadedConfig,
  recorder?: RequestRecorder,
  awaits?: Awaits,
): { readonly platform: ActivityDeps['platform']; readonly close: () => Promise<void> } {
  let opened: ReturnType<ActivityDeps['platform']> | undefined;
  const open = async () => {
    const { openPlatform } = await import('../platform/open.ts');
    const { tokenReader } = await import('../service/token-source.ts');
    const hideEnv = tokenVariables(config);
    return openPlatform(config, {
      env: context.env,
      hideEnv,
      tap: recorder?.platform,
      awaits,
      tokenOf: (source) => tokenReader(source, { keychain: noKeychain, hideEnv }),
    });
  };
  return {
    platform: () => {
      opened ??= open();
      return opened;
    },
    close: async () => {
      const found = await opened?.catch(() => undefined);
      if (found !== undefined && 'close' in found) await found.close();
    },
  };
}

/** The config does not allow a keychain as the platform's token source. */
function noKeychain(): never {
  throw new Error('the access token of the platform is never kept in the key store');
}
