import { type OfferedRunbookId, type Touches, touchesOf } from '../../../machines/parts/touches.ts';
import { formatSpan, formatTime, futureWords, utcTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import type { BackupRow } from './backup-list.ts';
import type { DryRunFacts } from './dry-run-facts.ts';

/** The flags of `lifeboat run`, as chosen on the screen. */
export interface StartWish {
  readonly runbook: OfferedRunbookId;
  readonly instance: string;
  readonly target?: string;
  readonly backup?: string;
  /** RFC 3339. */
  readonly to?: string;
  readonly action?: 'restart' | 'recreate' | 'update';
  readonly prepare?: true;
  readonly perform?: true;
  /** RFC 3339. */
  readonly incident?: string;
  readonly reason?: string;
}

/** Begins the same run. */
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

/** Without a flag: both halves if there is a target, else what can be done before a disaster. */
export function modeOf({
  prepare,
  perform,
  target,
}: {
  readonly prepare?: boolean;
  readonly perform?: boolean;
  readonly target?: string;
}): 'prepare' | 'perform' | 'both' {
  if (prepare === perform) return prepare === true || target !== undefined ? 'both' : 'prepare';
  return prepare === true ? 'prepare' : 'perform';
}

type Decisive = Pick<StartWish, 'runbook' | 'target' | 'action' | 'prepare' | 'perform'>;

export function touchesOfWish(wish: Decisive): Touches {
  return touchesOf(wish.runbook, { mode: modeOf(wish), action: wish.action });
}

/** Without a given backup, the run takes the newest and does not ask. */
export function takesNewest(wish: Decisive | undefined): boolean {
  return wish !== undefined && touchesOfWish(wish).lost === 'newest-backup';
}

/** One line each. Not printable by itself. */
export interface StartStakes {
  readonly overwritten: string;
  readonly lost: string;
  readonly wayBack: string;
}

export interface AtStake {
  readonly wish: StartWish;
  /** The chosen backup, or the newest known one if that is taken. */
  readonly backup: Pick<BackupRow, 'id' | 'triggeredAt' | 'ageSeconds' | 'aheadSeconds'> | undefined;
  /** Undefined until it has arrived. */
  readonly dryRun: DryRunFacts | undefined;
  readonly now: Date;
}

/** Pure. */
export function stakesOf(about: AtStake): StartStakes {
  const { dryRun } = about;
  const isOpen = dryRun === undefined || (dryRun.steps.length === 0 && dryRun.inTheWay !== undefined);
  const unknown = dryRun === undefined ? 'the dry run is under way' : 'the dry run could not say';
  const said = (texts: readonly string[], none: string) =>
    isOpen ? unknown : texts.length === 0 ? none : texts.join('; ');
  return {
    overwritten: said(dryRun?.forever ?? [], 'nothing'),
    lost: LOST[touchesOfWish(about.wish).lost](about),
    wayBack: said(dryRun?.wayBack ?? [], 'none is needed'),
  };
}

/** By what the runbook loses; the type requires words for every kind of loss. */
const LOST: Readonly<Record<Touches['lost'], (about: AtStake) => string>> = {
  nothing: () => 'no data',
  'only-on-machines': () => 'no data but what is stored only on a machine of the instance',
  'chosen-backup': lostAfterBackup,
  'newest-backup': lostAfterBackup,
  'own-backup': () => 'in the other instance, what is written after the backup that the run makes',
  'chosen-time': ({ wish: { to }, now }) => {
    if (to === undefined) return 'what was written after the time that the run asks you for';
    const ago = formatSpan(Math.max(0, (now.getTime() - msOf(to)) / 1000));
    return `what was written after ${formatTime(to)} UTC, ${ago} ago`;
  },
};

function lostAfterBackup({ wish, backup }: AtStake): string {
  if (backup === undefined) return 'what was written after the backup that the run asks you for';
  const of = backup.triggeredAt === undefined ? '' : ` of ${utcTime(backup.triggeredAt)}`;
  const ago = backup.ageSeconds === undefined ? '' : `, ${formatSpan(backup.ageSeconds)} ago`;
  const future = backup.aheadSeconds === undefined ? '' : `, ${futureWords(backup.aheadSeconds)}`;
  const which = wish.backup === undefined ? `the newest known backup, ${backup.id}` : `backup ${backup.id}`;
  return `what was written after ${which}${of}${ago}${future}`;
}

export interface PlanWish {
  readonly plan: string;
  readonly rehearsal: boolean;
  /** The steps for a lost source belong to it. */
  readonly sourceDown: boolean;
}
