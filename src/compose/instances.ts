import { type Touches, touchesOf } from '../../machines/parts/touches.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { plainAddress } from '../base/redact.ts';
import type { CommandContext } from '../cli/context.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Config } from '../config/schema.ts';
import type { Awaited, Awaits } from '../service/awaited.ts';
import type { JournalReader } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { lazyPlatform } from './platform-of.ts';
import { openRequestRecorder, type RequestRecorder } from './request-recorder.ts';
import { type OpenInstance, openForRun } from './service-of.ts';
import type { Workspace } from './workspace.ts';

/** What a run acts on: its instance, the one that a recovery goes into, and the platform around them. */
export interface RunInstances extends AsyncDisposable {
  /** Where they come from. Who has to approve what stands there too. */
  readonly config: LoadedConfig;
  readonly instance: OpenInstance;
  readonly target: OpenInstance | undefined;
  /** Opened when it is first asked for. */
  readonly platform: ActivityDeps['platform'];
  /** Hears every request to any of them. */
  readonly recorder: RequestRecorder;
  /** What is waited for now, of several the one that was asked for first. */
  readonly awaited: () => Awaited | undefined;
}

/** What is needed of a run to drive it. */
export type DrivenRun = Pick<RunSummary, 'runId' | 'runbook' | 'instance' | 'version'> & {
  readonly target?: string | undefined;
};

/**
 * Opens what a run acts on; nothing is sent but what `revision: auto` needs, and to a source that the run
 * does not call nothing is sent at all. Rejects with a usage error when the config lacks something.
 */
export async function openInstances(
  context: CommandContext,
  config: LoadedConfig,
  keys: Pick<Workspace, 'keyring'>,
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

/** What a run that is taken up again acts on. Of a runbook that nobody knows here, no source is called. */
export async function instancesOfRun(
  journal: JournalReader,
  { runId, runbook, instance, target }: Pick<RunSummary, 'runId' | 'runbook' | 'instance' | 'target'>,
  tokenFile: string | undefined,
) {
  const [started] = await journal.read(`run/${runId}`);
  const { input } = (started?.body ?? {}) as { readonly input?: unknown };
  return { instance, target, tokenFile, source: touchesOf(runbook, input)?.source ?? 'not-called' };
}

/**
 * `revision: auto` would ask an instance that may be gone; which revision it had does not matter for what is
 * never called.
 */
function withoutAsking(config: LoadedConfig, name: string): LoadedConfig {
  const instance = config.instances[name];
  if (instance === undefined || instance.revision !== 'auto') return config;
  return { ...config, instances: { ...config.instances, [name]: { ...instance, revision: 62 } } };
}

/**
 * Where the instances of a run are, and with which revision they are spoken to, for its first entry. Nothing
 * secret stands in it.
 */
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
