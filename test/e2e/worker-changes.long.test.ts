import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Call } from '../bench-kit/foreign/call.ts';
import { isPerform, type PlanBench } from '../plans/plan-bench.ts';
import { GROUP, PATIENTLY, STORES, useWorkers } from './workers.ts';

/* Workers that come and go while a service is at work: what others lost, ran twice or ran too many of. */

const AT_ONCE = GROUP.replace('waves: [1, "100%"]', 'waves: ["100%"]');

/** Every recovery stays at work until it may end. */
function held() {
  const mayEnd = Promise.withResolvers<void>();
  const trouble = (call: Call) => (isPerform(call) ? { task: { until: mayEnd.promise } } : undefined);
  return { trouble, release: () => mayEnd.resolve() };
}

const performs = ({ server }: PlanBench) => server.calls.filter(isPerform).length;

describe.each(STORES)('workers on %s that come and go', (store) => {
  const { opened, worker, stopped, lanes } = useWorkers(store);

  /** The processes that have taken a run up again, by the runs of recoveries. */
  const resumedBy = async (made: PlanBench) =>
    (await made.entries('run/')).flatMap(({ type, body }) =>
      type === 'run.resumed' ? [(body as { readonly pid?: number }).pid] : [],
    );

  /** The entries of the newest run of an instance. */
  const runOf = async (made: PlanBench, instance: string) => {
    const entries = await made.entries('run/');
    const begun = entries.findLast(
      ({ type, body }) =>
        type === 'run.started' && (body as { readonly instance?: string }).instance === instance,
    );
    return entries.filter(({ stream }) => stream === begun?.stream);
  };

  // rundeck#8786: a step whose worker was shut down stayed its own for ever.
  test('one that is told to end while the service is at work leaves the run to the next one, and the record says so', async (context) => {
    const { trouble, release } = held();
    context.onTestFinished(release);
    const made = await opened(context, 1, trouble);
    made.plan('west', GROUP);
    const first = await worker(made);
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect.poll(() => performs(made), PATIENTLY).toBe(1);
    await stopped(first);
    expect(await lanes(made)).toMatchObject({
      lanes: [{ state: 'at-work', where: expect.stringMatching(/^left to the workers: /u) }],
    });
    const next = await worker(made);
    await expect.poll(async () => (await resumedBy(made)).includes(next.child.pid), PATIENTLY).toBe(true);
    release();
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(made.performed()).toEqual({ 'db-1-dr': 1 });
    await stopped(next);
  });

  test('a person who takes up the plan while no worker is there waits for the one that comes, to the end', async (context) => {
    const made = await opened(context, 1);
    made.plan('west', GROUP);
    await made.good('plans', 'run', 'west', '--detach');
    const person = made.start('resume', 'last', '--confirm', 'data');
    const hasChild = async () =>
      (await made.entries('run/')).some(
        ({ type, body }) =>
          type === 'run.started' && (body as { readonly plan?: unknown }).plan !== undefined,
      );
    await expect.poll(hasChild, PATIENTLY).toBe(true);
    const only = await worker(made);
    expect((await person.ended).code, person.stderr()).toBe(0);
    expect(made.performed()).toEqual({ 'db-1-dr': 1 });
    await stopped(only);
  });

  // argo-workflows#10286: a restart forgot who held a place, and one too many began.
  test('all are killed while every place of a group is taken, and their successors begin no further run', async (context) => {
    const { trouble, release } = held();
    context.onTestFinished(release);
    const made = await opened(context, 5, trouble);
    made.plan('west', AT_ONCE);
    const first = [await worker(made), ...(store === 'postgres' ? [await worker(made)] : [])];
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect.poll(() => performs(made), PATIENTLY).toBe(3);
    for (const { child, ended } of first) {
      child.kill('SIGKILL');
      await ended;
    }
    const next = [await worker(made), ...(store === 'postgres' ? [await worker(made)] : [])];
    const pids = next.map(({ child }) => child.pid);
    // The plan and its three recoveries.
    await expect
      .poll(async () => (await resumedBy(made)).filter((pid) => pids.includes(pid)).length, PATIENTLY)
      .toBeGreaterThanOrEqual(4);
    expect(performs(made)).toBe(3);
    release();
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(Object.values(made.performed())).toEqual([1, 1, 1, 1, 1]);
    expect((await made.mostAtWork())['data']).toBe(3);
    for (const one of next) await stopped(one);
  });

  // kestra#12031: what was begun by hand ignored the limit.
  test('a run that a person drives counts: with one place in the store nothing else begins until it is over', async (context) => {
    const { trouble, release } = held();
    context.onTestFinished(release);
    const made = await opened(context, 2, trouble, 'workers: { perTeam: 1 }');
    made.plan('west', AT_ONCE.replace('db-*', 'db-1'));
    const byHand = made.start(
      'run',
      'disaster-recovery',
      'db-2',
      '--target',
      'db-2-dr',
      '--perform',
      '--yes',
      '--confirm',
      'db-2-dr',
    );
    await expect.poll(() => performs(made), PATIENTLY).toBe(1);
    const at = await worker(made);
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect
      .poll(
        async () => (await lanes(made)).lanes.filter(({ runId }) => runId !== undefined).length,
        PATIENTLY,
      )
      .toBe(1);
    expect(performs(made)).toBe(1);
    release();
    expect((await byHand.ended).code).toBe(0);
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(Object.values(made.performed())).toEqual([1, 1]);
    const over = (await runOf(made, 'db-2')).find(({ type }) => type === 'run.closed');
    const taken = (await runOf(made, 'db-1')).find(({ type }) => type === 'run.resumed');
    expect(taken?.index).toBeGreaterThan(over?.index ?? Number.POSITIVE_INFINITY);
    await stopped(at);
  });

  // dbos-transact-java#491: what began beside a living one executed its work again.
  test.skipIf(store === 'sqlite')(
    'one that starts beside a living one takes none of its runs, but runs others',
    async (context) => {
      const { trouble, release } = held();
      context.onTestFinished(release);
      const made = await opened(context, 2, trouble);
      const config = join(made.folder, 'lifeboat.yaml');
      writeFileSync(config, readFileSync(config, 'utf8').replace(/^ {2}db-1:$/mu, '$&\n    tags: [first]'));
      made.plan('west', GROUP.replace('db-*', 'db-1'));
      const first = await worker(made, '--label', 'first');
      await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
      await expect.poll(() => performs(made), PATIENTLY).toBe(1);
      const other = await worker(made);
      await made.good('run', 'rotate-key', 'db-2', '--yes', '--confirm', 'db-2', '--detach');
      await expect
        .poll(async () => (await runOf(made, 'db-2')).some(({ type }) => type === 'run.closed'), PATIENTLY)
        .toBe(true);
      release();
      await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
      const pids = (await runOf(made, 'db-1')).flatMap(({ type, body }) =>
        type === 'run.resumed' ? [(body as { readonly pid?: number }).pid] : [],
      );
      expect(pids).toEqual([first.child.pid]);
      expect(made.performed()['db-1-dr']).toBe(1);
      for (const one of [first, other]) await stopped(one);
    },
  );
});
