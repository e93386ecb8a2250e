import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { runbooks } from '../../../machines/index.ts';
import { reconcile } from '../../activities/reconcile.ts';
import { counted } from '../../base/format.ts';
import { onPath } from '../../base/run-shell.ts';
import { show } from '../../base/text.ts';
import { timeLimit } from '../../base/time-limit.ts';
import type { CommandContext } from '../../cli/context.ts';
import { lazyPlatform } from '../../compose/instances.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { tokenVariables } from '../../config/loaded.ts';
import { attempt, type Check, good } from './check.ts';

/** Besides the service: the platform, reconciliation commands, a team's texts. Only reads. */
export async function surroundings(context: CommandContext, config: LoadedConfig): Promise<Check[]> {
  const asked = Object.keys(config.instances).flatMap((name) => [
    reconciliation(config, name),
    ownCommands(context, config, name),
  ]);
  const found = await Promise.all([platform(context, config), teamTexts(config), ...asked]);
  return found.filter((check) => check !== undefined);
}

/** Whether lifeboat could bind the applications again from here; binding by hand is always possible. */
async function platform(context: CommandContext, config: LoadedConfig): Promise<Check> {
  const { platform: open, close } = lazyPlatform(context, config);
  const what = 'platform';
  try {
    const found = await attempt(what, async () => {
      const platform = await open();
      if ('none' in platform) return platform;
      const [first] = Object.values(config.instances);
      const known = first && (await platform.find(first.url, timeLimit(LOOK_MS)));
      return { said: platform.description, apps: known?.apps.length };
    });
    if ('check' in found) return { ...found.check, state: config.platform === 'cf' ? 'warn' : 'bad' };
    if ('none' in found.value)
      return {
        what,
        state: 'warn',
        found: show(found.value.none),
        hints: ['applications without a `reconnect` of their own are bound again by hand'],
      };
    const { said, apps } = found.value;
    return good(
      what,
      `${show(said)}${apps === undefined ? '' : `; the first instance has ${counted(apps, 'bound app')}`}`,
    );
  } finally {
    await close();
  }
}

const LOOK_MS = 20_000;

/** Runs the command once: during an incident it is too late to find out that `psql` is missing. */
async function reconciliation(config: LoadedConfig, name: string): Promise<Check | undefined> {
  const wanted = config.instances[name]?.reconcile;
  if (wanted === undefined) return undefined;
  const what = `${name}: reconcile`;
  const verb = reconcile({
    reconcile: { command: wanted.command, timeoutMs: wanted.timeout, hideEnv: tokenVariables(config) },
  });
  const result = await verb.run(
    { when: 'before' },
    {
      runId: 'doctor',
      instance: name,
      signal: new AbortController().signal,
      now: () => new Date(),
      report: () => undefined,
    },
  );
  const failure = result.ok ? result.output.failure : result.failure;
  if (!result.ok || failure !== undefined) {
    const hints = failure?.hints ?? [];
    return {
      what,
      state: 'warn',
      found: show(failure?.shortMessage ?? 'it failed'),
      hints: hints.map((hint) => show(hint)),
    };
  }
  const { newest, count } = result.output;
  if (newest === undefined && count === undefined)
    return { what, state: 'warn', found: 'its output has neither a time nor a number', hints: [] };
  return good(
    what,
    `newest ${newest ?? 'not reported'}, ` +
      `${count === undefined ? 'number of records not reported' : counted(count, 'record')}`,
  );
}

/** Whether the programs that reconnect applications exist. Does not run them. */
function ownCommands({ env }: CommandContext, config: LoadedConfig, name: string): Check | undefined {
  const own = (config.instances[name]?.apps ?? []).flatMap(({ reconnect }) => reconnect ?? []);
  if (own.length === 0) return undefined;
  const what = `${name}: reconnect`;
  const programs = new Set(own.flatMap(({ command, proof }) => [command[0] ?? '', proof[0] ?? '']));
  const missing = [...programs].filter((program) => onPath(program, env) === undefined);
  if (missing.length === 0) return good(what, `${counted(own.length, 'application')} with commands`);
  return {
    what,
    state: 'bad',
    found: `not found, or not executable: ${missing.map((program) => show(program, 200)).join(', ')}`,
    hints: [
      'each is a program and its arguments, without a shell; a path counts from the folder of the config',
    ],
  };
}

/** A configured folder without a runbook would silently leave out the team's phone numbers. */
async function teamTexts(config: LoadedConfig): Promise<Check | undefined> {
  const folder = config.runbooks;
  if (folder === undefined) return undefined;
  const there = await Promise.all(
    Object.keys(runbooks).map(async (id) => {
      const path = join(folder, `${id}.md`);
      return (await access(path).then(
        () => true,
        () => false,
      ))
        ? [id]
        : [];
    }),
  );
  const found = there.flat();
  if (found.length > 0) return good('runbooks', `${show(folder)}: ${found.join(', ')}`);
  return {
    what: 'runbooks',
    state: 'warn',
    found: `${show(folder)} holds none of them`,
    hints: [`files are named like the runbooks, for instance ${Object.keys(runbooks)[0]}.md`],
  };
}
