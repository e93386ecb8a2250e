import type { PlatformProof } from '../../machines/parts/recovery-data.ts';
import { errorFrom } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Platform, RebindOptions } from '../platform/platform.ts';
import {
  type ActivityContext,
  type ActivityOf,
  type ActivityResult,
  because,
  no,
  ok,
  type SendContext,
} from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { readParameters } from './find-bound.ts';
import { proveByCommand } from './reconnect.ts';
import { watchProgress } from './watchdog.ts';

/** Less than the platform's limits for staging and starting: the warning comes before they end the step. */
const STILL = {
  seconds: 300,
  basis: 'default',
  detail: 'the platform has reported nothing new since then',
} as const;

/**
 * One change. Without a platform it fails with `platform.none`: nothing was sent, and the step is done by
 * hand. `what` names the step for the screen.
 */
function onPlatform(
  deps: ActivityDeps,
  context: SendContext,
  what: string,
  step: (platform: Platform, options: RebindOptions) => Promise<PlatformProof>,
): Promise<ActivityResult<PlatformProof>> {
  const { mayLeave } = context;
  return atPlatform(deps, context, what, (platform, options) => step(platform, { ...options, mayLeave }));
}

/** Like `onPlatform`, for a read. */
async function atPlatform(
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

/** The binding from before the restore. Removing one that is gone changes nothing, so it is repeatable. */
export function unbindApp(deps: ActivityDeps): ActivityOf<'unbindApp'> {
  return {
    kind: 'repeatable',
    run: ({ app }, context) =>
      onPlatform(deps, context, `unbinding ${show(app.name, 100)}`, (platform, options) =>
        platform.unbind(app, options),
      ),
  };
}

/**
 * With the earlier name and parameters, which come from their private file and are in no journal. A binding
 * from an earlier attempt is reused. `binding.parameters-lost`: the file is missing or changed, and nothing
 * was bound.
 */
export function bindApp(deps: ActivityDeps): ActivityOf<'bindApp'> {
  return {
    kind: 'repeatable',
    run: ({ app, to, notBefore, beside }, context) =>
      onPlatform(deps, context, `binding ${show(app.name, 100)}`, async (platform, options) => {
        const parameters = await readParameters(app.binding ?? {});
        return platform.bind(app, to, { ...options, parameters, notBefore, beside });
      }),
  };
}

/** Stages, starts, and waits for all instances. Continues an earlier attempt. */
export function restageApp(deps: ActivityDeps): ActivityOf<'restageApp'> {
  return {
    kind: 'repeatable',
    run: ({ app, notBefore }, context) =>
      onPlatform(deps, context, `restaging ${show(app.name, 100)}`, (platform, options) =>
        platform.restage(app, { ...options, notBefore }),
      ),
  };
}

/**
 * Under its old name, with the parameters kept when it was found: they survive a crash between its removal
 * and its creation. A key made after the restore stays, so this is repeatable. `binding.parameters-lost`: the
 * file is missing or changed, and nothing was done.
 */
export function renewServiceKey(deps: ActivityDeps): ActivityOf<'renewServiceKey'> {
  return {
    kind: 'repeatable',
    run: ({ key, to, notBefore }, context) =>
      onPlatform(
        deps,
        context,
        `renewing the service key ${show(key.name, 100)}`,
        async (platform, options) => {
          const parameters = await readParameters(key);
          return platform.renewKey(key, to, { ...options, parameters, notBefore });
        },
      ),
  };
}

/**
 * By the application's own proof if it has one, else by the platform. `app.not-rebound` and
 * `reconnect.not-proven` say what is missing.
 */
export function proveApp(deps: ActivityDeps): ActivityOf<'proveApp'> {
  return {
    kind: 'read',
    run: ({ app, to, notBefore }, context) =>
      app.reconnect !== undefined
        ? proveByCommand(deps, app, to.name, context)
        : atPlatform(deps, context, `looking at ${show(app.name, 100)}`, async (platform, options) => {
            const proven = await platform.prove(app, to, { ...options, notBefore });
            if ('code' in proven) throw errorFrom(proven);
            return proven;
          }),
  };
}
