import { describe, expect, test } from 'vitest';
import { drive } from './drive.ts';
import type { Outcome } from './outcomes.ts';
import { outcomesOf } from './recovery-outcomes.ts';

describe('a restore', () => {
  test('stops where another restore has begun since the first look, and looks again without asking for the name', () => {
    const [look] = outcomesOf('recheck');
    const baseline = (look as { output: object }).output;
    const busy = { output: { ...baseline, runningRestores: [104] } };
    const run = drive('restore-backup', { backup: 3 }, { recheck: [busy, look as Outcome] });
    run.goOn();
    expect([run.state(), run.context().failure]).toMatchObject([
      'confirm.restoreMeanwhile',
      {
        shortMessage: 'restore 104 of orders is under way',
        hints: ['to wait for it: lifeboat restores get 104 --wait --instance orders'],
      },
    ]);
    run.answer({ type: 'operator.retry' });
    expect(run.state()).toBe('confirm.asking');
  });

  test('asks for the name again where another restore has begun while it was typed', () => {
    const [look] = outcomesOf('recheck');
    const baseline = (look as { output: object }).output;
    const busy = { output: { ...baseline, runningRestores: [104] } };
    const run = drive('restore-backup', { backup: 3 }, { recheck: [look as Outcome, busy] });
    run.goOn();
    run.goOn();
    expect([run.state(), run.context().confirm.drift]).toEqual([
      'confirm.asking',
      ['restore 104 has started'],
    ]);
  });
});
