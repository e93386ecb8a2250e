import { resolve } from 'node:path';
import type { Config, TokenConfig } from './schema.ts';

/** `timeout` in milliseconds; variables in `hideEnv` are withheld from a command. */
export type CheckpointConfig =
  | { readonly folder: string }
  | { readonly command: string; readonly timeout: number; readonly hideEnv: readonly string[] };

/** A target of notifications. The variables in `hideEnv` are withheld from a command. */
export type NotifyConfig = Config['notify'][number] & { readonly hideEnv: readonly string[] };

/** A place of escrow copies: its name as the config has it, and its folder unless it is the store. */
export interface EscrowPlace {
  readonly name: string;
  readonly folder: string | undefined;
}

type KeysConfig = Config['keys'];

/** Who can open sealed copies of keys, and where these are kept. `proof` in milliseconds. */
export interface EscrowConfig extends Omit<NonNullable<KeysConfig['escrow']>, 'places'> {
  readonly places: readonly EscrowPlace[];
}

export interface LoadedConfig extends Omit<Config, 'checkpoints' | 'notify' | 'keys'> {
  readonly keys: Omit<KeysConfig, 'escrow'> & { readonly escrow?: EscrowConfig | undefined };
  readonly checkpoints: readonly CheckpointConfig[];
  readonly notify: readonly NotifyConfig[];
  readonly path: string;
  /** The instances, by name, with a newer revision than the known ones, as written in the file. */
  readonly newerRevisions?: Readonly<Record<string, number>>;
  /** Of the file's text, hex; identifies it in the record. */
  readonly sha256: string;
}

/** A config with absolute paths: those in it are relative to `folder`, the file's folder. Pure. */
export function absolute(config: Config, folder: string): Omit<LoadedConfig, 'path' | 'sha256'> {
  // Thousands of instances may have one token.
  const tokens = new Map<string, TokenConfig>();
  const shared = (token: TokenConfig): TokenConfig => {
    if (!('file' in token)) return token;
    const known = tokens.get(token.file) ?? absoluteToken(token, folder);
    tokens.set(token.file, known);
    return known;
  };
  const instances = Object.entries(config.instances).map(([name, instance]) => {
    const token = instance.token;
    return [
      name,
      {
        ...instance,
        cryptoperiod: instance.cryptoperiod ?? config.keys.cryptoperiod,
        ...(instance.ca === undefined ? {} : { ca: resolve(folder, instance.ca) }),
        ...(token === undefined ? {} : { token: shared(token) }),
        ...(instance.apps === undefined
          ? {}
          : { apps: instance.apps.map((app) => withPrograms(app, folder)) }),
      },
    ];
  });
  return {
    ...config,
    instances: Object.fromEntries(instances),
    platform: absolutePlatform(config.platform, folder),
    ...(config.lab === undefined
      ? {}
      : { lab: { ...config.lab, token: absoluteToken(config.lab.token, folder) } }),
    ...(config.serve === undefined ? {} : { serve: absoluteServe(config.serve, folder) }),
    ...(config.runbooks === undefined ? {} : { runbooks: resolve(folder, config.runbooks) }),
    ...(config.report?.logo === undefined
      ? {}
      : { report: { ...config.report, logo: resolve(folder, config.report.logo) } }),
    ...(config.approvals === undefined ? {} : { approvals: absoluteApprovals(config.approvals, folder) }),
    keys: { ...config.keys, escrow: absoluteEscrow(config.keys.escrow, folder) },
    checkpoints: config.checkpoints.map((place) => absolutePlace(place, config, folder)),
    notify: config.notify.map((target) => absoluteTarget(target, config, folder)),
  };
}

function absoluteServe(serve: NonNullable<Config['serve']>, folder: string): NonNullable<Config['serve']> {
  const { identity } = serve;
  if (identity === undefined || !('jwt' in identity)) return serve;
  const { jwksFile, ca } = identity.jwt;
  const jwt = {
    ...identity.jwt,
    ...(jwksFile === undefined ? {} : { jwksFile: resolve(folder, jwksFile) }),
    ...(ca === undefined ? {} : { ca: resolve(folder, ca) }),
  };
  return { ...serve, identity: { jwt } };
}

function absoluteEscrow(escrow: KeysConfig['escrow'], folder: string): EscrowConfig | undefined {
  if (escrow === undefined) return undefined;
  const places = escrow.places.map((name) => ({
    name,
    folder: name === 'store' ? undefined : resolve(folder, name),
  }));
  return { ...escrow, places };
}

type AppConfig = NonNullable<Config['instances'][string]['apps']>[number];

function withPrograms({ reconnect, ...app }: AppConfig, folder: string): AppConfig {
  if (reconnect === undefined) return app;
  const { command, proof, timeout } = reconnect;
  return { ...app, reconnect: { command: program(command, folder), proof: program(proof, folder), timeout } };
}

/** A program with a slash in its name is a path; any other is searched for in PATH. */
function program([name = '', ...args]: readonly string[], folder: string): string[] {
  return [name.includes('/') ? resolve(folder, name) : name, ...args];
}

function absolutePlace(
  place: Config['checkpoints'][number],
  config: Config,
  folder: string,
): CheckpointConfig {
  if (typeof place === 'string') return { folder: resolve(folder, place) };
  if ('folder' in place) return { folder: resolve(folder, place.folder) };
  return { ...place, hideEnv: [...tokenVariables(config), ...SECRET_VARIABLES] };
}

function absoluteTarget(target: Config['notify'][number], config: Config, folder: string): NotifyConfig {
  const hideEnv = [...tokenVariables(config), ...SECRET_VARIABLES];
  if ('command' in target) return { ...target, hideEnv };
  const { url, headers, ca } = target;
  return {
    ...target,
    url: typeof url === 'object' && 'file' in url ? { file: resolve(folder, url.file) } : url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, source]) => [name, absoluteToken(source, folder)]),
    ),
    ...(ca === undefined ? {} : { ca: resolve(folder, ca) }),
    hideEnv,
  };
}

/** Variables that hold, or may hold, secrets of lifeboat itself. */
const SECRET_VARIABLES = ['LIFEBOAT_STORE', 'PGPASSWORD'];

type WithTokens = Pick<Config, 'instances' | 'platform' | 'notify' | 'lab'> | LoadedConfig;

/** The variables of each config: it never changes, and each of its instances asks for all of them. */
const variables = new WeakMap<WithTokens, readonly string[]>();

/** Variables that hold tokens: no command of the config needs another's token. */
export function tokenVariables(config: WithTokens): readonly string[] {
  const found = variables.get(config) ?? variablesIn(config);
  variables.set(config, found);
  return found;
}

function variablesIn({ instances, platform, notify, lab }: WithTokens): string[] {
  const sources: unknown[] = Object.values(instances).map(({ token }) => token);
  if (lab !== undefined) sources.push(lab.token);
  if (typeof platform !== 'string') sources.push(platform.token);
  for (const target of notify)
    if ('url' in target) sources.push(target.url, ...Object.values(target.headers));
  const named = sources.flatMap((source) => {
    const { env } = typeof source === 'object' ? (source as { readonly env?: unknown }) : {};
    return typeof env === 'string' ? [env] : [];
  });
  return [...new Set(named)];
}

function absoluteToken<Token extends TokenConfig>(token: Token, folder: string): Token {
  return 'file' in token ? { ...token, file: resolve(folder, token.file) } : token;
}

function absoluteApprovals(approvals: NonNullable<Config['approvals']>, folder: string) {
  const { allowedSigners, revoked } = approvals;
  return {
    ...approvals,
    allowedSigners: resolve(folder, allowedSigners),
    ...(revoked === undefined ? {} : { revoked: resolve(folder, revoked) }),
  };
}

function absolutePlatform(platform: Config['platform'], folder: string): Config['platform'] {
  if (typeof platform === 'string') return platform;
  const { token, ca } = platform;
  return {
    ...platform,
    ...(token === undefined ? {} : { token: absoluteToken(token, folder) }),
    ...(ca === undefined ? {} : { ca: resolve(folder, ca) }),
  };
}
