import type { Exchange } from '../service/call.ts';
import type { Limits } from '../service/limits.ts';
import type { Tap } from '../service/tap.ts';
import type { TokenReader, TokenSource } from '../service/token-source.ts';
import { platformByApi } from './api/platform.ts';
import { platformByCf } from './cf/platform.ts';
import type { ToolTap } from './cf/tool.ts';
import type { NoPlatform, Platform } from './platform.ts';
import type { Pace } from './wait.ts';

/** As the config has it. */
export type PlatformChoice =
  | {
      readonly api: string;
      readonly token?: TokenSource | undefined;
      readonly ca?: string | undefined;
    }
  | 'cf'
  | 'none';

export interface OpenPlatformOptions {
  /** Makes the reader of a token source, as for instances. */
  readonly tokenOf: (source: TokenSource) => TokenReader;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that the tool `cf` does not get to see, such as those that hold tokens of instances. */
  readonly hideEnv?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly pace?: Partial<Pace> | undefined;
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Hears every request with all that is in it, for a transcript. */
  readonly tap?: Tap | undefined;
  /** Hears every call of the tool `cf`. */
  readonly toolTap?: ToolTap | undefined;
}

/** What prints the token of whoever is logged in (domain 1.1). */
const LOGIN: TokenSource = { command: 'cf oauth-token' };

/**
 * The platform of the config, or why there is none, in words for people: then everything is done by hand. An
 * API that is configured is not called here, and its token not read; the tool `cf` is asked whether it is
 * logged in. Throws `config.platform`, `config.ca` and `config.proxy` for what is configured wrongly. Close
 * it: by the tool, a folder with a copy of the login is removed then.
 */
export async function openPlatform(
  { platform }: { readonly platform: PlatformChoice },
  options: OpenPlatformOptions,
): Promise<Platform | NoPlatform> {
  const { env, limits, pace, onExchange, tap, toolTap } = options;
  if (platform === 'none') return { none: 'the config says that there is no platform', chosen: true };
  if (platform !== 'cf') {
    const token = options.tokenOf(platform.token ?? LOGIN);
    return platformByApi({ api: platform.api, token, caFile: platform.ca, limits, pace, onExchange, tap });
  }
  const shown = { ...env };
  for (const name of options.hideEnv ?? []) delete shown[name];
  const signal = options.signal ?? new AbortController().signal;
  return platformByCf({ env: shown, signal, pace, tap: toolTap });
}
