import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { ActivityDeps } from './deps.ts';

export interface Bound {
  /** Cleaned, sorted, each once. */
  readonly names: readonly string[];
  /** Bound as well, in spaces that may not be seen. */
  readonly unseen: number;
  readonly warnings: readonly string[];
}

/** Names that are kept; more of them say nothing new. */
const MOST = 100;

/**
 * The applications that are bound to an instance: those that the config names, but for those in `intended`,
 * and those that the platform knows. A platform that cannot be asked is a warning. Rejects only when the
 * signal is aborted.
 */
export async function boundAt(
  { apps, platform, dashboardUrl }: Pick<ActivityDeps, 'apps' | 'platform' | 'dashboardUrl'>,
  intended: readonly string[],
  signal: AbortSignal,
): Promise<Bound> {
  const configured = apps.map(({ name }) => name).filter((name) => !intended.includes(name));
  const known = await asked(platform, dashboardUrl, signal);
  const names = new Set([...configured, ...known.names].map((name) => show(name, 100)));
  return { ...known, names: [...names].sort().slice(0, MOST) };
}

async function asked(
  open: ActivityDeps['platform'],
  dashboardUrl: string,
  signal: AbortSignal,
): Promise<Bound> {
  try {
    const platform = await open();
    if ('none' in platform) return unknownBound(platform.none);
    const found = await platform.find(dashboardUrl, signal);
    return {
      names: found.apps.map(({ name }) => name),
      unseen: found.unseen.reduce((sum, { apps }) => sum + apps, 0),
      warnings: [],
    };
  } catch (thrown) {
    signal.throwIfAborted();
    return unknownBound(failureOf(thrown).shortMessage);
  }
}

function unknownBound(why: string): Bound {
  return {
    names: [],
    unseen: 0,
    warnings: [`the platform was not asked which applications are bound: ${show(why, 200)}`],
  };
}
