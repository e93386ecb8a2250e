import { describe, expect, test } from 'vitest';
import { autopilot } from '../../src/commands/run/autopilot.ts';
import { makeWorld, obedient, reaches } from './world.ts';

describe('the journal of a run that was left', () => {
  test('says what ended it, and only the first of several reasons', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await reaches(run, 'oldBackup.asking');
    await Promise.all([run.detach('the terminal was lost'), run.detach('something else')]);
    expect(await world.bodies('run.detached')).toMatchObject([{ why: 'the terminal was lost' }]);
  });

  test('says that the operator left if nothing else is known', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await reaches(run, 'oldBackup.asking');
    await run.detach();
    expect(await world.bodies('run.detached')).toEqual([{ why: 'the operator left', awaits: 'person' }]);
  });

  test('says which answer was missing without a person to give it', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    const { why } = await autopilot(run, { yes: false });
    expect(why).toMatch(/^it needs a decision/);
    expect(await world.bodies('run.detached')).toEqual([{ why, awaits: 'person' }]);
  });
});
