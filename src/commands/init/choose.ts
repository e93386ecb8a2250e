import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import { InstanceName, type TokenConfig } from '../../config/schema.ts';
import type { ListedInstance } from '../../platform/open.ts';
import { addressFrom } from '../../service/address.ts';
import { type Check, good } from '../doctor/check.ts';
import type { Prompts } from './prompts.ts';

export interface InstanceFlags {
  readonly url?: string;
  readonly name?: readonly string[];
  readonly tokenCommand?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  readonly yes?: boolean;
}

export type Shown =
  | { readonly description: string; readonly instances: readonly ListedInstance[] }
  | { readonly none: string };

export interface Chosen {
  readonly instances: readonly { readonly name: string; readonly url: string }[];
  readonly token: TokenConfig;
  readonly checks: readonly Check[];
}

/**
 * Which instances, by what names, and where their tokens come from: from the flags, else by questions; asks
 * `cf` if no address is given. Rejects with a usage error if neither flags nor a person can answer.
 */
export async function chooseInstances(
  flags: InstanceFlags,
  cf: () => Promise<Shown>,
  prompts: Prompts | undefined,
): Promise<Chosen> {
  const { url, name = [] } = flags;
  if (url !== undefined) {
    addressFrom(url);
    const [only, second] = name;
    if (second !== undefined)
      throw usage('one address was given, and two names for it', ['give --name NAME once']);
    const called = only ?? (await prompts?.line(NAME, problemOfName));
    if (called === undefined) throw usage('the instance has no name', ['add --name NAME']);
    const problem = problemOfName(called);
    if (problem !== undefined) throw usage(problem, ['give it another name: --name NAME']);
    return {
      instances: [{ name: called, url }],
      token: await tokenFrom(flags, undefined, prompts),
      checks: [],
    };
  }
  const shown = await cf();
  const fitting = 'none' in shown ? [] : shown.instances.filter(isOfService);
  const checks = [checkOf(shown, fitting.length)];
  if (fitting.length > 0) {
    const instances = await ofCf(fitting, flags, prompts);
    return { instances, token: await tokenFrom(flags, CF_TOKEN, prompts), checks };
  }
  if (prompts === undefined)
    throw usage(checks[0]?.found ?? 'no instance is named', [
      'add --url URL and --name NAME',
      'or log in (cf login), then: lifeboat init --yes',
    ]);
  const address = await prompts.line(
    'Address of the dashboard, as `cf service NAME` prints it:',
    problemOfUrl,
  );
  const called = await prompts.line(NAME, problemOfName);
  const token = await tokenFrom(flags, undefined, prompts);
  return { instances: [{ name: called, url: address }], token, checks };
}

const NAME = 'What do you call the instance?';
const CF_TOKEN: TokenConfig = { command: 'cf oauth-token' };

/** Instances of other services have different dashboard addresses. */
function isOfService({ dashboardUrl }: ListedInstance): boolean {
  return problemOfUrl(dashboardUrl) === undefined;
}

function problemOfUrl(url: string): string | undefined {
  try {
    addressFrom(url);
    return undefined;
  } catch (thrown) {
    return thrown instanceof LifeboatError ? thrown.shortMessage : 'that is not an address';
  }
}

function problemOfName(name: string): string | undefined {
  return InstanceName.safeParse(name).error?.issues[0]?.message;
}

function checkOf(shown: Shown, fitting: number): Check {
  if ('none' in shown) return { what: 'cf', state: 'warn', found: show(shown.none), hints: [] };
  const found =
    `${shown.description}: ${counted(shown.instances.length, 'service instance')} ` +
    `with a dashboard, ${fitting} of this service`;
  return fitting > 0 ? good('cf', found) : { what: 'cf', state: 'warn', found, hints: [] };
}

async function ofCf(
  fitting: readonly ListedInstance[],
  { name: wanted = [], yes = false }: InstanceFlags,
  prompts: Prompts | undefined,
): Promise<{ name: string; url: string }[]> {
  const named = namesFor(fitting);
  if (wanted.length > 0) return wanted.map((name) => oneNamed(named, name));
  if (yes) return named.map(({ name, listed }) => ({ name, url: listed.dashboardUrl }));
  if (prompts === undefined)
    throw usage('no instance is named', [
      `cf shows: ${show(named.map(({ name }) => name).join(', '))}`,
      'add --name NAME, or --yes for all of them',
    ]);
  return prompts.some(
    'Which instances?',
    named.map(({ name, listed }) => ({
      value: { name, url: listed.dashboardUrl },
      name: show([name, ...(placeOf(listed) === '' ? [] : [`(${placeOf(listed)})`])].join('  '), 90),
    })),
  );
}

function placeOf({ org, space }: ListedInstance): string {
  return [org, space].filter((part) => part !== undefined).join('/');
}

function oneNamed(named: ReturnType<typeof namesFor>, wanted: string): { name: string; url: string } {
  const fits = named.filter(({ name, listed }) => name === wanted || listed.name === wanted);
  const exact = fits.length === 1 ? fits : fits.filter(({ name }) => name === wanted);
  const [only] = exact;
  if (only !== undefined) return { name: only.name, url: only.listed.dashboardUrl };
  const names = named.map(({ name }) => name);
  throw usage(
    fits.length === 0
      ? `cf shows no instance ${show(wanted, 60)} of this service`
      : `cf shows ${fits.length} instances ${show(wanted, 60)}`,
    [...(fits.length === 0 ? mostSimilar(wanted, names) : []), `it shows: ${show(names.join(', '))}`],
  );
}

async function tokenFrom(
  { tokenCommand, tokenEnv, tokenFile, yes }: InstanceFlags,
  byCf: TokenConfig | undefined,
  prompts: Prompts | undefined,
): Promise<TokenConfig> {
  if (tokenCommand !== undefined) return { command: tokenCommand };
  if (tokenEnv !== undefined) return { env: tokenEnv };
  if (tokenFile !== undefined) return { file: tokenFile };
  if (byCf !== undefined && (yes === true || prompts === undefined)) return byCf;
  if (prompts === undefined)
    throw usage('no source of access tokens is named', [
      'add --token-command COMMAND, --token-env VARIABLE or --token-file FILE',
      'for instance: --token-command "cf oauth-token"',
    ]);
  const kind = await prompts.one('Where does the access token come from?', [
    { value: 'cf', name: 'the login of cf (cf oauth-token)' },
    { value: 'command', name: 'another command that prints it' },
    { value: 'env', name: 'an environment variable' },
    { value: 'file', name: 'a file' },
  ]);
  if (kind === 'cf') return CF_TOKEN;
  if (kind === 'command') return { command: await prompts.line('The command:') };
  if (kind === 'env') return { env: await prompts.line('The name of the variable:') };
  return { file: await prompts.line('The path of the file:') };
}

function usage(message: string, hints: readonly string[]): LifeboatError {
  return new LifeboatError('init.unnamed', message, {
    hints: [...hints, 'nothing was written'],
    exitCode: EXIT.usage,
  });
}

export interface Named {
  readonly name: string;
  readonly listed: ListedInstance;
}

/**
 * A config name for each service instance: its own, with a dash for each character that a config does not
 * allow. If several share a name, each gets its space appended, else its org, else a number.
 */
export function namesFor(instances: readonly ListedInstance[]): Named[] {
  const taken = new Set<string>();
  return instances.map((listed) => {
    const { name, space, org } = listed;
    const isAlone = instances.filter((other) => plain(other.name) === plain(name)).length === 1;
    const longer = [
      [name, space],
      [name, space, org],
    ].map((parts) => plain(parts.filter(Boolean).join('-')));
    const numbered = Array.from(instances, (_, at) => plain(`${name.slice(0, 50)}-${at + 1}`));
    const free = [...(isAlone ? [plain(name)] : []), ...longer, ...numbered].find((one) => !taken.has(one));
    taken.add(free ?? plain(name));
    return { name: free ?? plain(name), listed };
  });
}

/** As the config allows it (schema.ts): letters, digits, dots, dashes; `lifeboat` is reserved. */
function plain(name: string): string {
  const text = name
    .replace(/[^A-Za-z0-9._-]+/gu, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/gu, '')
    .slice(0, 63);
  if (text === '') return 'service-instance';
  return text === 'lifeboat' ? 'lifeboat-service' : text;
}
