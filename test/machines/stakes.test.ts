import { describe, expect, it } from 'vitest';
import { stakesOfAction, stakesOfKey, stakesOfRestore } from '../../machines/closing/stakes.ts';
import type { RunContext } from '../../machines/context.ts';
import type { RunInput } from '../../machines/inputs.ts';
import { startingContext } from './starting-context.ts';

const MADE = '2026-11-21T02:00:07Z';
const context = (more: Partial<RunContext> = {}, input: Partial<RunInput> = {}): RunContext => ({
  ...startingContext({ instance: 'orders', ...input }),
  ...more,
});
const chosen = { choose: { backup: { id: 41, status: 'done', triggeredAt: MADE }, time: MADE } };

describe.each([
  ['a backup', {}],
  ['a point in time', { time: MADE }],
])('the stakes of a restore of %s', (_, input) => {
  const stakesOf = (known: Partial<RunContext>) => stakesOfRestore(context(known, input));

  it('include all data, and what was written since', () => {
    expect(stakesOf(chosen)).toMatchObject({
      overwritten: 'all data in orders',
      lost: `everything written after ${MADE}`,
      lostSince: MADE,
    });
  });

  it('include no way back without a backup of the present state', () => {
    expect(stakesOf(chosen).wayBack).toMatch(/^none:/u);
  });

  it('include the backup of the present state as the way back, by its number', () => {
    const safeguard = {
      intents: 1,
      absences: 0,
      send: { is: 'landed' as const, id: 7, adopted: false },
      backup: { id: 7, status: 'done', finishedAt: '2026-11-21T03:00:00Z' },
    };
    expect(stakesOf({ ...chosen, safeguard }).wayBack).toBe(
      'restore backup 7, made of the present state at 2026-11-21T03:00:00Z',
    );
  });

  it('say so if it is unknown from when on data is lost', () => {
    const stakes = stakesOf({ choose: { backup: { id: 41, status: 'done' } } });
    expect(stakes.lost).toContain('that time is not known');
    expect(stakes).not.toHaveProperty('lostSince');
  });
});

describe('the stakes of a recovery into a target', () => {
  const from = { guid: 'g-1', fingerprint: '3fe1b0c2d4a5', what: 'backup', how: 'card' } as const;
  const recovery: RunContext = {
    ...startingContext({ instance: 'orders', target: 'orders-dr', mode: 'perform' }),
    source: { from },
  };

  it('include the data of the target, and never that of the source', () => {
    const { overwritten, wayBack } = stakesOfRestore(recovery);
    expect(overwritten).toBe('all data in orders-dr');
    expect(wayBack).toBe('none for orders-dr; orders and its backups are not touched');
  });

  it('do not call a source untouched that the same run has prepared', () => {
    const both = startingContext({ instance: 'orders', target: 'orders-dr', mode: 'both' });
    expect(stakesOfRestore(both).wayBack).toBe('none for orders-dr; orders keeps its data and its backups');
  });

  it('name the time of a backup that is on record', () => {
    const proven = [
      { id: 3, backupId: 'g-1', triggeredAt: MADE, provenAt: MADE, fingerprint: '3fe1b0c2d4a5' },
    ];
    const onRecord = { proven, keysHeld: [] } as unknown as NonNullable<RunContext['card']['onRecord']>;
    expect(stakesOfRestore({ ...recovery, card: { onRecord } })).toMatchObject({
      lost: `everything written in orders after ${MADE}`,
      lostSince: MADE,
    });
  });

  it('name the newest backup that was ever listed, where the newest one is recovered', () => {
    const seen = { at: MADE, backups: [{ id: 3, backupId: 'g-1', status: 'done', triggeredAt: MADE }] };
    const onRecord = { proven: [], keysHeld: [], seen };
    const newest = { ...recovery, source: { from: { ...from, what: 'newest' as const } } };
    expect(stakesOfRestore({ ...newest, card: { onRecord } })).toMatchObject({
      lost: `everything written in orders after its newest backup, made at ${MADE} or later`,
      lostSince: MADE,
    });
    expect(stakesOfRestore(newest).lost).toContain('that time is not known');
  });
});

describe('what else is confirmed by a name', () => {
  it('is a key, whose backups may no longer be offered for download', () => {
    expect(stakesOfKey(context()).lost).toContain('can still be restored');
  });

  it.each(['restart', 'recreate', 'update'] as const)('is a %s, which keeps the data', (action) => {
    const run = { ...context().run, action };
    expect(stakesOfAction(context({ run })).overwritten).toMatch(/keeps its data|its data stays/u);
  });
});
