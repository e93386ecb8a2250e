import { formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import type { BackupRow } from './backup-list.ts';
import type { DryRunFacts } from './dry-run-facts.ts';

/**
 * What a run is to be about, as the screen has asked for it: the flags of `lifeboat run`, in the same words.
 */
export interface StartWish {
  readonly runbook: string;
  readonly instance: string;
  readonly target?: string;
  readonly backup?: string;
  /** RFC 3339. */
  readonly to?: string;
  readonly action?: 'restart' | 'recreate' | 'update';
  readonly prepare?: true;
  readonly perform?: true;
  /** When the incident began, RFC 3339. */
  readonly incident?: string;
  readonly reason?: string;
}

/** The command that begins the same run. */
export function commandOf(wish: StartWish): string {
  const { runbook, instance, target, backup, to, action, prepare, perform, incident } = wish;
  const flags: readonly (readonly [string, string | undefined])[] = [
    ['--instance', instance],
    ['--target', target],
    ['--backup', backup],
    ['--to', to],
    ['--action', action],
    ['--incident', incident],
  ];
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, shellQuoted(value)]));
  const halves = [...(prepare === true ? ['--prepare'] : []), ...(perform === true ? ['--perform'] : [])];
  return ['lifeboat', 'run', runbook, ...words, ...halves].join(' ');
}

/** What a run puts at stake, each in one line. Not printable by itself. */
export interface Stakes {
  readonly overwritten: string;
  readonly lost: string;
  readonly wayBack: string;
}

export interface AtStake {
  readonly wish: StartWish;
  /** The backup that was chosen, or the newest that is known where the newest is taken. */
  readonly backup: Pick<BackupRow, 'id' | 'triggeredAt' | 'ageSeconds'> | undefined;
  /** Undefined until it is there. */
  readonly dryRun: DryRunFacts | undefined;
  readonly now: Date;
}

/** What is overwritten, what is lost, and what the way back is. Pure. */
export function stakesOf(about: AtStake): Stakes {
  const { dryRun } = about;
  const isOpen = dryRun === undefined || (dryRun.steps.length === 0 && dryRun.inTheWay !== undefined);
  const unknown = dryRun === undefined ? 'the dry run is under way' : 'the dry run could not say';
  const said = (texts: readonly string[], none: string) =>
    isOpen ? unknown : texts.length === 0 ? none : texts.join('; ');
  return {
    overwritten: said(dryRun?.forever ?? [], 'nothing'),
    lost: lostBy(about),
    wayBack: said(dryRun?.wayBack ?? [], 'none is needed'),
  };
}

function lostBy({ wish, backup, now }: AtStake): string {
  const { runbook, to, prepare, perform } = wish;
  if (runbook === 'restore-point-in-time') {
    if (to === undefined) return 'what was written after the time that the run asks you for';
    const ago = formatSpan(Math.max(0, (now.getTime() - msOf(to)) / 1000));
    return `what was written after ${formatTime(to)} UTC, ${ago} ago`;
  }
  if (runbook === 'disaster-recovery' && prepare === true && perform === true)
    return 'in the other instance, what is written after the backup that the run makes';
  if (runbook === 'restore-backup' || (runbook === 'disaster-recovery' && perform === true)) {
    if (backup === undefined) return 'what was written after the backup that the run asks you for';
    const of = backup.triggeredAt === undefined ? '' : ` of ${formatTime(backup.triggeredAt)} UTC`;
    const ago = backup.ageSeconds === undefined ? '' : `, ${formatSpan(backup.ageSeconds)} ago`;
    const which = wish.backup === undefined ? `the newest known backup, ${backup.id}` : `backup ${backup.id}`;
    return `what was written after ${which}${of}${ago}`;
  }
  return 'no data';
}
