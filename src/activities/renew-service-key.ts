import type { PlatformInstance, PlatformProof, ServiceKey } from '../../machines/parts/recovery-verbs.ts';
import { show } from '../text.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

interface Input {
  readonly key: ServiceKey;
  readonly to: PlatformInstance;
  /** The end of the restore. RFC 3339. */
  readonly notBefore: string;
}

/** Makes a service key anew under its old name. A key that was made after the restore is left alone, so it may be done again. */
export function renewServiceKey(deps: ActivityDeps): RepeatableActivity<Input, PlatformProof> {
  return {
    kind: 'repeatable',
    run: ({ key, to, notBefore }, context) =>
      onPlatform(deps, context, `renewing the service key ${show(key.name, 100)}`, (platform, options) =>
        platform.renewKey(key, to, { ...options, notBefore }),
      ),
  };
}
