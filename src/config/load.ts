import { hash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { passingBytes, passingText, readBounded, whyUnread } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';
import { LONGEST_CONFIG, searchPath, storesOfPipes } from './find.ts';
import { keyStoreNamed } from './key-store-named.ts';
import { absolute, type LoadedConfig } from './loaded.ts';
import { readYaml, type YamlFile } from './read-yaml.ts';
import { Config, configJsonSchema, type InstanceConfig } from './schema.ts';

/**
 * Reads `path` or the first file of `searchPath`. Its paths become absolute, relative to its folder. A config
 * runs commands: one that others could have written is refused (`trust.refused`), even if it was named.
 */
export async function loadConfig(env: NodeJS.ProcessEnv, path?: string): Promise<LoadedConfig> {
  const candidates = path === undefined ? searchPath(env) : [resolve(path)];
  for (const candidate of candidates) {
    let isPipe = false;
    const bytes = await read(candidate, (opened) => {
      isPipe = !opened.isFile();
    });
    if (bytes === undefined) continue;
    const config = parsedOnce(bytes, candidate);
    assertKeyStoreSeen(config, env);
    if (isPipe) storesOfPipes.set(candidate, config.store);
    return config;
  }
  throw usage('config.missing', 'there is no lifeboat.yaml', [
    `looked for: ${candidates.join(', ')}`,
    'name another with --config FILE or LIFEBOAT_CONFIG',
    'to write one: `lifeboat init`',
    'to try it without a service: `lifeboat drill`, or `lifeboat lab --out lifeboat.yaml`',
  ]);
}

let last: LoadedConfig | undefined;

/**
 * A screen reads its store, and so the config, several times a minute: that of ten thousand instances takes a
 * third of a second to parse, and leaves a hundred MiB to collect.
 */
function parsedOnce(bytes: Buffer, path: string): LoadedConfig {
  // That of its text, which is the same for bytes that are UTF-8; others are parsed each time.
  const isSame = last?.path === path && last.sha256 === hash('sha256', bytes, 'hex');
  if (last === undefined || !isSame) last = parseConfig(passingText(bytes), path);
  return last;
}

/** Throws `config.yaml` or `config.invalid` (exit 2) with all problems, each with line and column. */
export function parseConfig(text: string, path: string): LoadedConfig {
  const { data, value } = readYaml(text, path, CONFIG_FILE);
  const config = absolute(data, dirname(path));
  return {
    ...config,
    newerRevisions: newerRevisions(config, value),
    path,
    sha256: hash('sha256', passingBytes(text), 'hex'),
  };
}

const CONFIG_FILE: YamlFile<typeof Config> = {
  kind: 'config',
  schema: Config,
  long: 'instances',
  jsonSchema: configJsonSchema,
  unreadable: (path, why) => usage('config.yaml', `${path} is not YAML: ${why}`),
};

function newerRevisions({ instances }: Pick<LoadedConfig, 'instances'>, value: unknown) {
  const given = value as { readonly instances?: Readonly<Record<string, { readonly revision?: unknown }>> };
  return Object.fromEntries(
    Object.entries(instances).flatMap(([name, { revision }]) => {
      const asked = given.instances?.[name]?.revision;
      return typeof asked === 'number' && asked !== revision ? [[name, asked]] : [];
    }),
  );
}

/** The key store is chosen before a config is parsed (key-store-named.ts): it must be visible there. */
function assertKeyStoreSeen({ keyStore, path }: LoadedConfig, env: NodeJS.ProcessEnv): void {
  if (keyStore === undefined || keyStoreNamed(env, path) !== undefined) return;
  throw usage('config.key-store', `${show(path, 200)}: keyStore does not stand where it is looked for`, [
    `write \`keyStore: ${keyStore}\` on a line of its own, at its beginning, in a plain file`,
    `or set LIFEBOAT_KEYCHAIN=${keyStore}`,
  ]);
}

/** One instance by name; for an unknown one, the error lists the known names. */
export function instanceNamed(config: LoadedConfig, name: string): InstanceConfig {
  const found = Object.hasOwn(config.instances, name) ? config.instances[name] : undefined;
  if (found !== undefined) return found;
  throw usage('config.instance', `there is no instance ${show(name)} in ${config.path}`, [
    ...mostSimilar(name, Object.keys(config.instances)),
    `it has: ${Object.keys(config.instances).join(', ') || 'none'}`,
  ]);
}

async function read(
  path: string,
  look: (opened: { isFile(): boolean }) => void,
): Promise<Buffer | undefined> {
  try {
    return await readBounded(path, LONGEST_CONFIG, (opened) => {
      assertTrusted('config', path, opened);
      look(opened);
    });
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LifeboatError('config.unreadable', `${show(path)} cannot be read: ${whyUnread(cause)}`, {
      cause,
      exitCode: EXIT.usage,
    });
  }
}

function usage(code: string, shortMessage: string, hints: readonly string[] = []): LifeboatError {
  return new LifeboatError(code, shortMessage, { hints, exitCode: EXIT.usage });
}

/** The named instance, or the only one; `usage.instance` (exit 2) if there is none, or several. */
export function chosenInstance(config: LoadedConfig, named: string | undefined): string {
  if (named !== undefined) {
    instanceNamed(config, named);
    return named;
  }
  const names = Object.keys(config.instances);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return only;
  if (only === undefined)
    throw usage('usage.instance', `there is no instance in ${config.path}`, ['add one below `instances`']);
  throw usage('usage.instance', `no instance is named, and lifeboat.yaml has ${names.length}`, [
    `add --instance NAME: ${names.join(', ')}`,
  ]);
}
