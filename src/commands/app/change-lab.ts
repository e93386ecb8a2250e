import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { LabChange } from '../../view/app/lab-facts.ts';
import { labOf } from './load-lab.ts';

/**
 * Changes the lab of the config and describes the resulting state. Rejects as `labOf` and `askLab` do. Only
 * reaches instances of a lab.
 */
export async function changeLab(config: LoadedConfig, change: LabChange): Promise<string> {
  const lab = await labOf(config);
  const { askLab } = await import('../../service/lab-client.ts');
  const answers = await import('../../service/lab-client.ts');
  switch (change.do) {
    case 'play': {
      const call = { method: 'POST', path: '/lab/scenario', body: { name: change.scenario } } as const;
      const { playing } = await askLab(lab, call, answers.LabScenarios);
      return `scenario ${show(playing ?? 'none', 80)} has begun; the faults of the one before have ended`;
    }
    case 'stop-faults': {
      await askLab(lab, { method: 'DELETE', path: '/lab/faults' }, answers.LabFaults);
      return 'all faults have ended; later steps of a scenario still follow';
    }
    case 'lose':
    case 'bring-back': {
      const path = `/lab/instances/${encodeURIComponent(change.instance)}/disaster`;
      const call = { method: 'POST', path, body: { lost: change.do === 'lose' } } as const;
      const { name, state } = await askLab(lab, call, answers.LabDisaster);
      return `${show(name, 80)} is ${STATES[state] ?? show(state, 40)}`;
    }
    case 'delete': {
      const path = `/lab/instances/${encodeURIComponent(change.instance)}`;
      const { name } = await askLab(lab, { method: 'DELETE', path }, answers.LabDeleted);
      return `${show(name, 80)} is deleted for good; its backups stay`;
    }
    case 'advance': {
      const call = { method: 'POST', path: '/lab/clock', body: { advance: change.by } } as const;
      const { now } = await askLab(lab, call, answers.LabClock);
      return `the clock of the lab shows ${show(formatTime(now), 40)} UTC now`;
    }
    case 'expire-tokens': {
      await askLab(lab, { method: 'POST', path: '/lab/tokens', body: { expire: true } }, answers.LabTokens);
      return 'the tokens from before are refused now; the token file holds a new one';
    }
  }
}

/** Describes each state, keyed by the lab's own word for it. */
const STATES: Readonly<Record<string, string>> = {
  lost: 'lost: a router answers 502 in its place',
  running: 'running, with everything that was committed',
  deleted: 'deleted: it can neither be lost nor come back',
};
