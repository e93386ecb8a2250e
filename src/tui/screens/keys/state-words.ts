import type { KeyRow } from '../../../view/app/sources.ts';

/** What the state of a key means, in one sentence without a stop. */
export function stateWords({ state, isHeld, endedAt, provenAt }: KeyRow): string {
  if (!isHeld && state !== 'refuted')
    return 'the key store does not have this key: backups under it cannot be opened here';
  if (state === 'unknown') return 'the key store has this key, and no record says what it was for';
  if (state === 'refuted') return 'the service did not take this key';
  if (endedAt !== undefined) {
    return provenAt === undefined
      ? 'replaced: older backups may need it'
      : 'replaced: backups were opened with it, and older ones may need it';
  }
  return OPEN[state];
}

const OPEN = {
  pending: 'stored, and not known to be sent to the service',
  set: 'in force: no backup was opened with it yet',
  uncertain: 'sent, and the answer was lost: it may be in force',
  proven: 'in force: a backup was opened with it',
  added: 'added by hand: when it was in force is not known',
} as const;
