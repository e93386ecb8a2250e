import type { PlatformProof } from '../../machines/parts/recovery-data.ts';
import { show } from '../base/text.ts';
import type { Platform, RebindOptions } from '../platform/platform.ts';
import type { ActivityContext, ActivityResult, SendContext } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';
import { watchProgress } from './watchdog.ts';

/** Less than the platform's own limits for staging and starting: you hear of it before they end the step. */
const STILL = {
  seconds: 300,
  basis: 'default',
  detail: 'the platform has reported nothing new meanwhile',
} as const;

/**
 * One change at the platform. Without a platform it fails with `platform.none`: the step is done by hand
 * then, and nothing was sent. `what` names the step for the screen.
 */
export function onPlatform(
  deps: ActivityDeps,
  context: SendContext,
  what: string,
  step: (platform: Platform, options: RebindOptions) => Promise<PlatformProof>,
): Promise<ActivityResult<PlatformProof>> {
  const { mayLeave } = context;
  return atPlatform(deps, context, what, (platform, options) => step(platform, { ...options, mayLeave }));
}

/** The same for a look at the platform. */
export async function atPlatform(
  deps: ActivityDeps,
  context: ActivityContext,
  what: string,
  step: (platform: Platform, options: Omit<RebindOptions, 'mayLeave'>) => Promise<PlatformProof>,
): Promise<ActivityResult<PlatformProof>> {
  const { runId, signal } = context;
  const watched = watchProgress(context, STILL);
  try {
    const platform = await deps.platform();
    if ('none' in platform) {
      return no('platform.none', show(platform.none), {
        hints: ['do it by hand: the commands are listed', 'nothing was sent'],
      });
    }
    const tell = (status: string) => watched.report({ kind: 'task', status: show(status, 120), what });
    return ok(await step(platform, { runId, signal, tell }));
  } catch (thrown) {
    return because(thrown);
  } finally {
    watched.stop();
  }
}
