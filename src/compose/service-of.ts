import * as z from 'zod';
import { isoOf } from '../base/date.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { Secret } from '../base/secret.ts';
import type { CommandContext } from '../cli/context.ts';
import { instanceNamed } from '../config/load.ts';
import { type LoadedConfig, tokenVariables } from '../config/loaded.ts';
import type { InstanceConfig, TokenConfig } from '../config/schema.ts';
import { type KeyStore, RESERVED_ACCOUNT_PREFIX } from '../keys/key-store.ts';
import type { Awaits } from '../service/awaited.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ConnectionOptions } from '../service/connection.ts';
import type { HostPace } from '../service/host-pace.ts';
import type { Tap } from '../service/interceptors.ts';
import type { Revision } from '../service/revisions.ts';
import type { SharedAccess } from '../service/shared-access.ts';
import type { TokenReader } from '../service/token-source.ts';
import type { TokenValidity } from '../view/fleet/fleet-facts.ts';
import type { Workspace } from './workspace.ts';

/** A configured instance with its client, which sends nothing until it is used. */
export interface OpenInstance extends AsyncDisposable {
  readonly name: string;
  readonly config: InstanceConfig;
  readonly service: ServiceClient;
  /** The configured revision, or the one that `revision: auto` found. */
  readonly revision: Revision;
  /** The token in use, where the instance shares its source with others that are asked with it. */
  readonly token: TokenReader;
  /** Variables with tokens, kept from commands that the config runs. */
  readonly hideEnv: readonly string[];
}

/** The keychain account of an instance's access token, if its config says `token: {keychain: true}`. */
export function tokenAccount(instance: string): string {
  return `${RESERVED_ACCOUNT_PREFIX}token/${instance}`;
}

/** With `revision: auto`, asks the instance first. Rejects with a usage error if the config lacks a value. */
export async function openInstance(
  config: LoadedConfig,
  name: string,
  options: {
    readonly store: () => Promise<KeyStore>;
    readonly tokenFile?: string | undefined;
    readonly tap?: Tap | undefined;
    /** When hosts have asked to be spared. */
    readonly pace?: HostPace | undefined;
    readonly awaits?: Awaits | undefined;
    /** Shared with other instances of the config that are asked too. */
    readonly access?: SharedAccess | undefined;
    readonly warn?: (line: string) => void;
    readonly found?: (line: string) => void;
  },
): Promise<OpenInstance> {
  const { addressFrom } = await import('../service/address.ts');
  const { openService } = await import('../service/open.ts');
  const { tokenReader } = await import('../service/token-source.ts');
  const instance = instanceNamed(config, name);
  const source: TokenConfig | undefined =
    options.tokenFile === undefined ? instance.token : { file: options.tokenFile };
  if (source === undefined) {
    throw new LifeboatError('config.token', `instance ${name} has no token source in ${config.path}`, {
      hints: ['for instance: token: { command: cf oauth-token }', 'or name a file with --token-file'],
      exitCode: EXIT.usage,
    });
  }
  const hideEnv = tokenVariables(config);
  const token = tokenReader(source, {
    keychain: async () => (await (await options.store()).get(tokenAccount(name))) ?? missing(name),
    hideEnv,
  });
  const { access, tap, awaits, pace } = options;
  const shared = access && { access, source: sourceOf(source, name) };
  const cache = shared?.access.tokensOf(shared.source, token);
  const network = { token, caFile: instance.ca, tap, awaits, pace, shared };
  const revision =
    instance.revision === 'auto'
      ? await findOutRevision(instance.url, network, options.found)
      : instance.revision;
  const address = addressFrom(instance.url, revision);
  if (address.insecure)
    options.warn?.(`warning: ${address.origin} is plain http: token and keys travel in the clear`);
  const service = openService(address, { ...network, downloadOrder: instance.downloads });
  const newer = config.newerRevisions?.[name];
  if (newer !== undefined) options.warn?.(`warning: ${name}: ${newerRevisionWords(newer)}`);
  if (service.limits !== undefined) options.warn?.(`warning: ${name}: ${service.limits.deprecation}`);
  return {
    name,
    config: instance,
    service,
    revision,
    token: cache === undefined ? token : async () => (await cache.current()).value,
    hideEnv,
    [Symbol.asyncDispose]: () => service.close(),
  };
}

/** The key store has a token for each instance, any other source one for all. */
function sourceOf(source: TokenConfig, name: string): string {
  return JSON.stringify('keychain' in source ? { ...source, account: tokenAccount(name) } : source);
}

/** Says that the client uses the newest known revision instead of the instance's own. */
export function newerRevisionWords(given: number): string {
  return `revision ${given} is newer than any that lifeboat knows; it is spoken to as revision 62`;
}

/** `revision: auto`: asks the instance by GETs. */
async function findOutRevision(
  url: string,
  network: ConnectionOptions,
  tell: ((line: string) => void) | undefined,
): Promise<Revision> {
  const { addressFrom } = await import('../service/address.ts');
  const { detectRevision } = await import('../service/detect.ts');
  const { revision, because, certain } = await detectRevision(addressFrom(url), network);
  tell?.(`revision ${revision}${certain ? '' : ', assumed'}: ${because}`);
  return revision;
}

function missing(instance: string): never {
  throw new LifeboatError('credentials.missing', `the access token of ${instance} is not in the key store`, {
    hints: [`store it: lifeboat keys add ${instance} --token`],
    exitCode: EXIT.credentials,
  });
}

/** Opens an instance for a command that drives a run: warnings go to stderr, keys come from the workspace. */
export function openForRun(
  context: CommandContext,
  config: LoadedConfig,
  keys: Pick<Workspace, 'keyring'> & Partial<Pick<Workspace, 'pace'>>,
  name: string,
  how: Pick<Parameters<typeof openInstance>[2], 'tokenFile' | 'tap' | 'awaits'> = {},
): Promise<OpenInstance> {
  return openInstance(config, name, {
    store: async () => keys.keyring.store,
    pace: keys.pace,
    ...how,
    warn: (line) => context.stderr.write(`${line}\n`),
    found: (line) => context.stderr.write(`${line}\n`),
  });
}

/**
 * The earlier of what token and config say. Reads the source but runs no command. Rejects as the reader does.
 */
export async function tokenValidity({
  config: { token: source },
  token,
}: Pick<OpenInstance, 'config' | 'token'>): Promise<TokenValidity> {
  const isRenewed = source !== undefined && 'command' in source;
  const said = [source?.expires, isRenewed ? undefined : expiryOf(await token())];
  const [until] = said.filter((at) => at !== undefined).toSorted((one, other) => msOf(one) - msOf(other));
  if (until !== undefined) return { kind: 'until', until };
  return { kind: isRenewed ? 'renewed' : 'unsaid' };
}

/** If a JSON Web Token says so (RFC 7519 section 4.1.4). Unverified: only for warnings. */
export function expiryOf(authorization: Secret): string | undefined {
  const payload = authorization.reveal().split(/\s+/).at(-1)?.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims = z
      .looseObject({ exp: z.number() })
      .parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return isoOf(claims.exp * 1000);
  } catch {
    return undefined;
  }
}
