import { findBindings } from '../capi/find-bindings.ts';
import { proveRebound } from '../capi/prove.ts';
import type { Platform } from '../platform.ts';
import { DEFAULT_PACE, type Pace } from '../wait.ts';
import { type CfLoginOptions, loginOfCf } from './login.ts';
import { bindByCf, unbindByCf } from './rebind.ts';
import { renewKeyByCf } from './renew-key.ts';
import { restageByCf } from './restage.ts';
import { openSession } from './session.ts';

export interface CfOptions extends CfLoginOptions {
  readonly pace?: Partial<Pace> | undefined;
}

/**
 * Cloud Foundry by its tool `cf`, when that is installed and logged in; else why not, for people. The user's
 * own login and target are read once and never changed. Rejects with `platform.stopped` only.
 */
export async function platformByCf({
  pace,
  ...options
}: CfOptions): Promise<Platform | { readonly none: string }> {
  const login = await loginOfCf(options);
  if ('none' in login) return login;
  const { tool, home, capi, description } = login;
  const session = openSession(tool, capi, home, { ...DEFAULT_PACE, ...pace });
  return {
    way: 'cf',
    description,
    find: (dashboardUrl, stop) => findBindings(capi, dashboardUrl, stop),
    unbind: (app, wish) => unbindByCf(session, app, wish),
    bind: (app, to, wish) => bindByCf(session, app, to, wish),
    restage: (app, wish) => restageByCf(session, app, wish),
    renewKey: (key, to, wish) => renewKeyByCf(session, key, to, wish),
    prove: (app, to, wish) => proveRebound(capi, app, to, wish),
    close: () => home.remove(),
  };
}
