import type { Runbook } from '../../../machines/parts/runbook.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { placeOf } from '../../service/address.ts';
import type { Json } from '../../store/journal.ts';

/** Flags that say what a run is about. */
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

/** The same before it is known which instance is meant. */
export type GivenFlags = Omit<RunFlags, 'instance'> & Partial<Pick<RunFlags, 'instance'>>;

/** Which flag a field of an input comes from. */
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
 * runbook has no use for: it would be a wish that nobody meets.
 */
export async function inputFrom(
  runbook: Runbook,
  flags: RunFlags,
  now: Date,
  rehearsal: boolean,
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
  // A backup is known by a number within its instance, and by a longer id elsewhere: which one is meant, the
  // runbook knows.
  const again =
    !read.success && backup !== undefined && /^\d+$/.test(backup)
      ? runbook.input.safeParse({ ...wish, backup: Number(backup) })
      : read;
  if (!again.success) throw misfit(runbook, again.error.issues[0], wish);
  const taken = again.data as Readonly<Record<string, Json>>;
  const dropped = Object.keys(wish).find((field) => !Object.hasOwn(taken, field));
  if (dropped !== undefined) throw useless(runbook, dropped);
  const marked = rehearsal ? runbook.input.safeParse({ ...taken, rehearsal: true }) : again;
  return (marked.success ? marked.data : taken) as Readonly<Record<string, Json>>;
}

/**
 * The instance that a run changes: a recovery into a target changes that one, and is a rehearsal when that
 * one is for rehearsals. Rejects a target that is the source, also under another name or another spelling of
 * its address (`usage.target`, exit 2).
 */
export function changedInstance(config: LoadedConfig, { instance, target }: RunFlags) {
  const source = instanceNamed(config, instance);
  if (target === undefined) return source;
  const into = instanceNamed(config, target);
  if (target === instance || placeOf(into.url) === placeOf(source.url)) {
    const alias = target === instance ? '' : ` under another name: ${target} has the same address`;
    throw new LifeboatError('usage.target', `the target is ${instance} itself${alias}`, {
      hints: [
        'to restore in place: lifeboat run restore-backup, or restore-point-in-time',
        'nothing was begun',
      ],
      exitCode: EXIT.usage,
    });
  }
  // What the recovery is measured against is what the lost instance promised.
  return { objectives: source.objectives, rehearsal: into.rehearsal };
}

/**
 * Which halves of a disaster recovery are run. Without a flag: both where there is a target, else what can be
 * done in peace time.
 */
function modeFrom(runbook: Runbook, { prepare, perform, target }: RunFlags): { mode?: string } {
  if (runbook.id !== 'disaster-recovery') {
    if (prepare === true || perform === true) return { mode: 'prepare' };
    return {};
  }
  if (prepare === perform) return { mode: prepare === true || target !== undefined ? 'both' : 'prepare' };
  return { mode: prepare === true ? 'prepare' : 'perform' };
}

/** A moment of the past, in any way that the screen takes it: RFC 3339, `14:32`, `10 minutes ago`. */
export async function momentFrom(text: string, flag: string, now: Date): Promise<string> {
  const { readMoment } = await import('../../view/moment.ts');
  const read = readMoment(text, { now, earliest: new Date(0), latest: now });
  if ('time' in read) return read.time.toISOString();
  throw new LifeboatError('usage.time', `${flag} ${show(text, 60)}: ${read.problem}`, {
    hints: ['for instance 2026-03-01T02:59:00Z, 14:32, "14:32 UTC" or "10 minutes ago"', 'nothing was sent'],
    exitCode: EXIT.usage,
  });
}

function misfit(
  runbook: Runbook,
  issue:
    | { readonly path: readonly PropertyKey[]; readonly message: string; readonly code?: string }
    | undefined,
  wish: Readonly<Record<string, Json>>,
): LifeboatError {
  const keys = (issue as { readonly keys?: readonly string[] } | undefined)?.keys;
  if (issue?.code === 'unrecognized_keys' && keys?.[0] !== undefined) return useless(runbook, keys[0]);
  const field = String(issue?.path[0] ?? '');
  const flag = FLAG_OF[field] ?? `--${field}`;
  const missing = field !== '' && !Object.hasOwn(wish, field);
  return new LifeboatError(
    'usage.input',
    missing
      ? `${runbook.id} needs ${flag}`
      : `${flag} does not fit ${runbook.id}: ${show(issue?.message ?? '')}`,
    { hints: ['nothing was begun', '`lifeboat run --help` names the flags'], exitCode: EXIT.usage },
  );
}

function useless(runbook: Runbook, field: string): LifeboatError {
  const shortMessage = `${runbook.id} takes no ${FLAG_OF[field] ?? field}`;
  return new LifeboatError('usage.input', shortMessage, {
    hints: ['nothing was begun'],
    exitCode: EXIT.usage,
  });
}
