import type { Runbook } from '../../../machines/parts/runbook.ts';
import { dateAt } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { isSameInstance } from '../../base/instance-url.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { canAsk } from '../../plain/terminal.ts';
import type { Json } from '../../store/journal.ts';
import { modeOf } from '../../view/app/start-wish.ts';

export interface RunFlags {
  readonly instance: string;
  readonly target?: string;
  readonly backup?: string;
  readonly to?: string;
  readonly app?: readonly string[];
  readonly prepare?: boolean;
  readonly perform?: boolean;
  readonly action?: string;
  readonly incident?: string;
  readonly reason?: string;
}

/** The same flags, before it is known which instance is meant. */
export type GivenFlags = Omit<RunFlags, 'instance'> & Partial<Pick<RunFlags, 'instance'>>;

/** The flag for each field of an input. */
const FLAG_OF: Readonly<Record<string, string>> = {
  target: '--target',
  backup: '--backup',
  time: '--to',
  apps: '--app',
  mode: '--prepare or --perform',
  action: '--action',
  incidentAt: '--incident',
  reason: '--reason',
};

/**
 * The input of a run from its flags, checked by its runbook. Rejects with a usage error for a flag that the
 * runbook does not use: its wish would be silently ignored. `targets` are named if one is missing.
 */
export async function inputFrom(
  runbook: Runbook,
  flags: RunFlags,
  now: Date,
  rehearsal: boolean,
  targets: readonly string[] = [],
): Promise<Readonly<Record<string, Json>>> {
  const { instance, target, backup, app, action, reason } = flags;
  const wish: Record<string, Json> = {
    instance,
    ...(target === undefined ? {} : { target }),
    ...(backup === undefined ? {} : { backup }),
    ...(flags.to === undefined ? {} : { time: await momentFrom(flags.to, '--to', now) }),
    ...(app === undefined ? {} : { apps: [...app] }),
    ...modeFrom(runbook, flags),
    ...(action === undefined ? {} : { action }),
    ...(flags.incident === undefined
      ? {}
      : { incidentAt: await momentFrom(flags.incident, '--incident', now) }),
    ...(reason === undefined ? {} : { reason }),
  };
  const read = runbook.input.safeParse(wish);
  // A backup has a number in its instance, and a longer id elsewhere: the runbook decides.
  const again =
    !read.success && backup !== undefined && /^\d+$/.test(backup)
      ? runbook.input.safeParse({ ...wish, backup: Number(backup) })
      : read;
  if (!again.success) throw misfit(runbook, again.error.issues[0], wish, targets);
  const taken = again.data as Readonly<Record<string, Json>>;
  const dropped = Object.keys(wish).find((field) => !Object.hasOwn(taken, field));
  if (dropped !== undefined) throw useless(runbook, dropped);
  const marked = rehearsal ? runbook.input.safeParse({ ...taken, rehearsal: true }) : again;
  return (marked.success ? marked.data : taken) as Readonly<Record<string, Json>>;
}

/**
 * For a recovery the target, whose rehearsal setting counts. Rejects (`usage.target`, exit 2) the source as
 * target, even by another name or spelling of its address.
 */
export function changedInstance(config: LoadedConfig, { instance, target }: RunFlags) {
  const source = instanceNamed(config, instance);
  if (target === undefined) return source;
  const into = instanceNamed(config, target);
  if (target === instance || isSameInstance(into.url, source.url) === true) {
    const alias = target === instance ? '' : ` under another name: ${target} has the same address`;
    throw new LifeboatError('usage.target', `the target is ${instance} itself${alias}`, {
      hints: [
        `to restore in place: lifeboat run restore-backup ${instance}, or restore-point-in-time`,
        'nothing was started',
      ],
      exitCode: EXIT.usage,
    });
  }
  // The objectives of a recovery are those of the lost instance.
  return { objectives: source.objectives, rehearsal: into.rehearsal };
}

/** The instances that are kept as recovery targets. */
export function targetsIn({ instances }: LoadedConfig): readonly string[] {
  return Object.entries(instances).flatMap(([name, { role }]) => (role === 'target' ? [name] : []));
}

/** For a runbook with halves, or a flag that asks for a mode, which other runbooks refuse. */
function modeFrom(runbook: Runbook, flags: RunFlags): { mode?: string } {
  const { instance, prepare, perform } = flags;
  const issues = runbook.input.safeParse({ instance }).error?.issues ?? [];
  const hasHalves = issues.some(({ path }) => path[0] === 'mode');
  return hasHalves || prepare === true || perform === true ? { mode: modeOf(flags) } : {};
}

/** A moment of the past, in any form that the screen accepts: RFC 3339, `14:32`, `10 minutes ago`. */
export async function momentFrom(text: string, flag: string, now: Date): Promise<string> {
  const { readMoment } = await import('../../view/moment.ts');
  const read = readMoment(text, { now, earliest: dateAt(0), latest: now });
  if ('time' in read) return read.time.toISOString();
  throw new LifeboatError('usage.time', `${flag} ${show(text, 60)}: ${read.problem}`, {
    hints: ['for instance 2026-03-01T02:59:00Z, 14:32, "14:32 UTC" or "10 minutes ago"', 'nothing was sent'],
    exitCode: EXIT.usage,
  });
}

/** The actions to choose from, if the runbook needs one and no flag names it. Empty for any other runbook. */
function openActions(runbook: Runbook, { instance, action }: RunFlags): readonly string[] {
  if (action !== undefined) return [];
  const issues = runbook.input.safeParse({ instance }).error?.issues ?? [];
  return issues.filter(({ path }) => path[0] === 'action').flatMap(wordsOf);
}

function wordsOf(issue: Issue): readonly string[] {
  return (issue.values ?? []).map(String);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code?: string;
  readonly values?: readonly unknown[];
}

function misfit(
  runbook: Runbook,
  issue: Issue | undefined,
  wish: Readonly<Record<string, Json>>,
  targets: readonly string[],
): LifeboatError {
  const keys = (issue as { readonly keys?: readonly string[] } | undefined)?.keys;
  if (issue?.code === 'unrecognized_keys' && keys?.[0] !== undefined) return useless(runbook, keys[0]);
  const field = String(issue?.path[0] ?? '');
  const flag = FLAG_OF[field] ?? `--${field}`;
  const missing = field !== '' && !Object.hasOwn(wish, field);
  const words = field === 'target' && missing ? targets : issue === undefined ? [] : wordsOf(issue);
  const choices =
    words.length === 0 ? [] : [`add one of: ${words.map((word) => `${flag} ${word}`).join(', ')}`];
  return new LifeboatError(
    'usage.input',
    missing
      ? `${runbook.id} needs ${flag}`
      : `${flag} does not fit ${runbook.id}: ${show(issue?.message ?? '')}`,
    {
      hints: ['nothing was started', ...choices, '`lifeboat run --help` names the flags'],
      exitCode: EXIT.usage,
    },
  );
}

function useless(runbook: Runbook, field: string): LifeboatError {
  const shortMessage = `${runbook.id} takes no ${FLAG_OF[field] ?? field}`;
  return new LifeboatError('usage.input', shortMessage, {
    hints: ['nothing was started'],
    exitCode: EXIT.usage,
  });
}

/**
 * The flags, with the action that a person chooses in the terminal if the runbook needs one and no flag names
 * it. Unchanged if no person is to be asked. Rejects with `run.declined` (exit 130) when the person leaves.
 */
export async function withAction<Flags extends RunFlags & { readonly yes?: boolean }>(
  context: CommandContext,
  runbook: Runbook,
  flags: Flags,
): Promise<Flags> {
  const actions = openActions(runbook, flags);
  const isAsked = isForPeople(context) && flags.yes !== true;
  if (actions.length === 0 || !isAsked || !canAsk(context)) return flags;
  const { openAsking } = await import('../../plain/ask.ts');
  const stop = stopSignal();
  const asker = openAsking(context, stop.signal);
  try {
    asker.say(`${runbook.id}: what should be done with ${flags.instance}?`);
    for (const [at, action] of actions.entries()) asker.say(`  ${at + 1}  ${action}`);
    for (;;) {
      const line = (await asker.line('which one (Enter leaves)? '))?.trim();
      if (line === undefined) asker.say('');
      if (line === undefined || line === '') break;
      const action = actions.find((word, at) => line === word || line === String(at + 1));
      if (action !== undefined) return { ...flags, action };
      asker.say('type one of the numbers, or its word');
    }
  } finally {
    asker.close();
    stop.release();
  }
  throw new LifeboatError('run.declined', 'nothing was started', { exitCode: EXIT.interrupted });
}
