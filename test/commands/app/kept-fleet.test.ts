import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { KeptFleet } from '../../../src/commands/app/kept-fleet.ts';
import { type InstanceFacts, nothingAsked } from '../../../src/view/fleet/fleet-facts.ts';
import { ago, cardless, NOW, part } from '../../tui/fake-fleet.ts';

const RPO = { rpo: 3_600_000 };

/** Sources, each with its target, of which nothing was asked. */
function fleetOf(sources: number) {
  const names = Array.from({ length: sources }, (_, at) => [`db-${at}`, `db-${at}-dr`]).flat();
  const aboutOf = (name: string) => ({
    name,
    role: name.endsWith('-dr') ? ('target' as const) : ('source' as const),
    objectives: RPO,
  });
  const targetOf = (name: string) => (name.endsWith('-dr') ? undefined : `${name}-dr`);
  return { names, kept: new KeptFleet({ names, aboutOf, targetOf }), aboutOf };
}

function answersOf(name: string, hours: number): InstanceFacts {
  return {
    ...nothingAsked({ name, role: 'source', objectives: RPO }),
    backups: part({ done: [{ id: 1, triggeredAt: ago(hours) }], skewMs: 0 }),
    held: part(['aaaaaaaaaaaa']),
  };
}

describe('the facts of a fleet that are kept', () => {
  test('come back as they were, with those of the target', () => {
    const { kept, aboutOf } = fleetOf(1);
    const record = part({ ...recordValue(), holders: new Map([['age1x', ago(2)]]) });
    kept.keepAnswers(answersOf('db-0', 2));
    kept.keepRecord('db-0', record);
    kept.keepAnswers(answersOf('db-0-dr', 5));
    expect(kept.factsOf('db-0')).toEqual({
      ...{ ...answersOf('db-0', 2), ...aboutOf('db-0'), record },
      target: { ...answersOf('db-0-dr', 5), ...aboutOf('db-0-dr') },
    });
    expect(kept.recordOf('db-0')).toEqual(record);
  });

  test('keep the disk of an answer for which it was not asked', () => {
    const { kept } = fleetOf(1);
    kept.keepAnswers({ ...answersOf('db-0', 2), disk: part('none' as const) });
    kept.keepAnswers(answersOf('db-0', 1));
    expect(kept.factsOf('db-0').disk).toEqual(part('none'));
    expect(kept.factsOf('db-0').backups).toEqual(answersOf('db-0', 1).backups);
  });

  test('judge again the instance that answers and its source, and no other one', () => {
    const { kept } = fleetOf(2);
    const before = kept.rowsAt(NOW);
    kept.keepAnswers(answersOf('db-0-dr', 1));
    const after = kept.rowsAt(NOW);
    expect(after.map((row, at) => row !== before[at])).toEqual([true, true, false, false]);
  });

  test('are shown in full as they are judged now, and not when their row was', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
    onTestFinished(() => void vi.useRealTimers());
    const { kept } = fleetOf(1);
    kept.keepAnswers(answersOf('db-0', 0.5));
    const [row] = kept.rowsAt(new Date());
    expect(row?.status().newestBackup).toMatchObject({ ageSeconds: 1_800, meetsRpo: true });
    vi.setSystemTime(new Date(NOW.getTime() + RPO.rpo));
    expect(row?.status().newestBackup).toMatchObject({ ageSeconds: 5_400, meetsRpo: false });
    expect(kept.rowsAt(new Date())[0]?.newestAge).toBe(5_400);
  });

  test('of thousands are judged again a part at each look, and all within a minute and a half', () => {
    const { names, kept } = fleetOf(2_500);
    const looks = Array.from({ length: 19 }, (_, at) => kept.rowsAt(new Date(NOW.getTime() + at * 5_000)));
    const [first = [], ...later] = looks;
    let before = first;
    for (const rows of later) {
      const changed = rows.filter((row, at) => row !== before[at]).length;
      expect(changed).toBeLessThan(names.length / 3);
      before = rows;
    }
    expect(before.filter((row, at) => row === first[at])).toEqual([]);
  });

  test('say which instances had a locked key store', () => {
    const { kept } = fleetOf(1);
    const held = { state: 'failed', at: NOW, code: 'vault.locked', why: 'the vault is locked' } as const;
    kept.keepAnswers({ ...answersOf('db-0', 1), held });
    expect([kept.isLocked('db-0'), kept.isLocked('db-0-dr')]).toEqual([true, false]);
  });
});

function recordValue() {
  const record = cardless();
  if (record.state !== 'known') throw new Error('no record');
  return record.value;
}
