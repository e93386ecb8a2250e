import { instantOf } from '../../src/base/instant.ts';
import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import type { Stakes } from '../parts/question.ts';
import { landedOf } from '../parts/task-data.ts';
import type { Touches } from '../parts/touches.ts';
import { sentOf } from '../phases/once.ts';
import { restoredName, sourceName, touchesOfRun } from './evaluate.ts';

export function stakesOfRestore(context: RunContext): Stakes {
  const { lost, target } = touchesOfRun(context);
  return {
    ...(target === 'replaced' ? ofTarget(context) : ofInstance(context)),
    ...LOST[lost](context),
  };
}

type Lost = Pick<Stakes, 'lost' | 'lostSince'>;

const LOST: Readonly<Record<Touches['lost'], (context: RunContext) => Lost>> = {
  nothing: () => ({ lost: 'no data' }),
  'only-on-machines': () => ({ lost: 'what is stored only on a machine' }),
  'chosen-backup': ({ choose: { backup } }) => {
    const made = backup?.triggeredAt ?? backup?.startedAt ?? backup?.finishedAt;
    return lostAfter(made, `backup ${backup?.id} was made`, '');
  },
  'chosen-time': ({ choose }) => lostAfter(choose.time, 'the chosen time', ''),
  'newest-backup': lostWithSource,
  'own-backup': lostWithSource,
};

function ofInstance(context: RunContext): Pick<Stakes, 'overwritten' | 'wayBack'> {
  const { run, restore } = context;
  return {
    overwritten: `all data in ${run.instance}${sentOf(restore) === undefined ? '' : SENT_BEFORE}`,
    wayBack: wayBackInPlace(context),
  };
}

/** After a failed restore, nothing tells how much of the data is left. */
const SENT_BEFORE = '; a restore of this run was sent to it, so what it holds is not known';

function ofTarget(context: RunContext): Pick<Stakes, 'overwritten' | 'wayBack'> {
  const { run, target, restore } = context;
  const name = restoredName(context);
  const { identity } = target.facts ?? {};
  const source =
    touchesOfRun(context).source === 'changed'
      ? `${run.instance} keeps its data and its backups`
      : `${run.instance} and its backups are not touched`;
  const held =
    identity === undefined
      ? ''
      : `: ${counted(identity.backups, 'backup')}, ${counted(identity.boundApps.length, 'bound app')}`;
  return {
    overwritten: `all data in ${name}${sentOf(restore) === undefined ? held : SENT_BEFORE}`,
    wayBack: `none for ${name}; ${source}`,
  };
}

/** By what is known of the chosen backup. The newest may have been made after the last look at the source. */
function lostWithSource(context: RunContext) {
  const { from } = context.source;
  // The record of a single change is that of its target, not of the source.
  const { card, proven = [], seen } = (context.run.single === undefined && context.card.onRecord) || {};
  const where = ` in ${sourceName(context)}`;
  const listed = [card?.newest ?? [], seen?.backups ?? []].flat();
  if (from?.what !== 'newest') {
    const chosen = [...proven, ...listed].find(({ backupId }) => backupId === from?.guid);
    return lostAfter(chosen?.triggeredAt, 'the chosen backup was made', where);
  }
  const [known] = listed
    .flatMap(({ triggeredAt }) => triggeredAt ?? [])
    .sort((one, other) => (instantOf(other) ?? 0) - (instantOf(one) ?? 0));
  if (known === undefined) return lostAfter(undefined, 'the newest backup was made', where);
  return {
    lost: `everything written${where} after its newest backup, made at ${known} or later`,
    lostSince: known,
  };
}

export function stakesOfKey({ run }: RunContext): Stakes {
  return {
    overwritten: `the encryption key of ${run.instance}; its data stays`,
    lost: 'the download of backups made with the old key; they can still be restored',
    wayBack: 'set the old key again; backups made in between keep the key they were made with',
  };
}

export function stakesOfAction({ run: { instance, action = 'restart' } }: RunContext): Stakes {
  return {
    restart: {
      overwritten: `nothing: ${instance} keeps its data`,
      lost: `connections to ${instance}, while it is down`,
      wayBack: 'none is needed',
    },
    recreate: {
      overwritten: `the machines of ${instance}; its data stays`,
      lost: `connections to ${instance}, while it is down; what is stored only on a machine may be lost`,
      wayBack: 'none for what is stored only on a machine',
    },
    update: {
      overwritten: `the version of ${instance}; its data stays`,
      lost: `connections to ${instance}, while it is down`,
      wayBack: 'none: the earlier version cannot be brought back',
    },
  }[action];
}

function lostAfter(time: string | undefined, what: string, where: string): Lost {
  if (time === undefined) return { lost: `everything written${where} after ${what}; that time is not known` };
  return { lost: `everything written${where} after ${time}`, lostSince: time };
}

function wayBackInPlace({ safeguard }: RunContext): string {
  const { backup, outside } = safeguard;
  const landed = landedOf(safeguard);
  if (landed !== undefined) {
    const made = backup?.finishedAt ?? backup?.triggeredAt;
    return `restore backup ${landed.id}, made of the present state${made === undefined ? '' : ` at ${made}`}`;
  }
  if (outside !== undefined) return `the backup made outside of this run: ${outside}`;
  return 'none: no backup of the present state was taken in this run';
}
