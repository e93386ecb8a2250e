import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { until } from '../bench-kit/until.ts';
import { originIn, ROLLED_BACK, refused } from '../e2e/rolled-back.ts';
import { isPerform } from '../plans/plan-bench.ts';
import { isPlanOver, openPlanTeam, repeatWhatNeverArrived } from './hurt-workers.ts';
import { LEASE_MS } from './trial.ts';

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });

test('a promoted standby without some acknowledged entries stops every change until the loss is accepted, and none is made twice', {
  timeout: 1_800_000,
}, async () => {
  await using opened = await openPlanTeam(product, 5, { asynchronous: true });
  const { made, team } = opened;
  const { ada, bob, servers } = team;
  const { calls } = made.server;
  const changed = () => calls.filter(({ method, did }) => method !== 'GET' && did);
  const workers = [ada, bob].map(({ bench }) => bench.start('worker'));
  await Promise.all(workers.map((one) => until(() => one.stderr().includes('takes runs'))));
  await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
  const performed = () => changed().filter((call) => isPerform(call)).length;
  await until(() => performed() > 0);
  await servers.leaveBehind();
  const known = performed();
  await until(() => performed() > known);
  await servers.primary.crash();
  await servers.promote();

  // What is sent after this moment was decided by the record of the old primary.
  const from = changed().length;
  const begun = await bob.bench.run('worker');
  refused(expect, begun, ROLLED_BACK);
  expect(begun.stderr).toMatch(/^hint: armed in the lost part: /mu);
  refused(expect, await ada.bench.run('resume', 'last', '--yes'), ROLLED_BACK);
  const restore = ['run', 'back-up-and-verify', '--instance', 'db-5', '--yes'];
  refused(expect, await ada.bench.run(...restore), ROLLED_BACK);
  for (const words of [['runs'], ['plans', 'show', 'last'], ['status']]) {
    const read = await Promise.all([ada, bob].map(({ bench }) => bench.run(...words)));
    for (const { code, stderr } of read) expect([0, 1], stderr).toContain(code);
    // A reader only looks into its own home, and the last checkpoint may be of either.
    const said = read.map(({ stderr }) => stderr).join('');
    expect(said, words.join(' ')).toMatch(/^warning: the journal was rolled back: /mu);
  }
  for (const { child, ended } of workers) {
    child.kill('SIGTERM');
    await ended;
  }
  expect(changed().length).toBe(from);

  const reason = ['--reason', 'the primary is lost', '--confirm', originIn(ada.bench)];
  await made.good('audit', 'accept-loss', ...reason);
  const doubts = (await made.good('runs', '--in-doubt')).matchAll(/^(\S+)-dr .* (lost-\S+) /gmu);
  const hidden = Array.from(doubts, ([, source = '', lost = '']) => ({ source, lost }));
  expect(hidden).not.toEqual([]);
  const { runId } = JSON.parse(await made.good('plans', 'show', 'last', '--json')) as {
    readonly runId: string;
  };
  const others = [ada, bob].map(({ bench }) => bench.start('worker'));
  for (const { source, lost } of hidden) {
    const asked = await ada.bench.run('resume', lost, '--look');
    expect(asked.code, asked.stderr).toBe(5);
    const [, id = 'nothing'] = /it may be restore (\d+)/u.exec(asked.stderr) ?? [];
    expect(id === 'nothing' ? 0 : 1).toBe(made.performed()[`${source}-dr`]);
    const because = ['--reason', 'seen at the service'];
    // Before the call is decided: from then on the plan may begin the step.
    if (id !== 'nothing') await made.good('plans', 'skip', 'last', `data/${source}/recover`, ...because);
    await made.good('resume', lost, '--became', id, ...because);
  }
  await until(async () => {
    await repeatWhatNeverArrived(made);
    await ada.bench.run('resume', runId, '--yes');
    return isPlanOver(await team.entries());
  });
  for (const { child, ended } of others) {
    child.kill('SIGTERM');
    await ended;
  }
  expect(Object.entries(made.performed()).filter(([, times]) => times !== 1)).toEqual([]);
  const audit = await made.run('audit', 'verify');
  expect([0, 3], audit.stdout).toContain(audit.code);
});
