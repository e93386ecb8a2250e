import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beginsNow, hasRun, ScheduleRecord } from '../../src/commands/worker/schedules.ts';
import { openStoreOf } from '../../src/compose/store-of.ts';
import { lastTime } from '../../src/queue/cron.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { openKeys, signerOf } from '../bench-kit/key-store.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { isPerform, noFreshBackup } from '../plans/plan-bench.ts';
import { randomFrom } from '../random.ts';
import { GROUP, PATIENTLY, STORES, useWorkers } from './workers.ts';

describe.each(STORES)('workers on %s', (store) => {
  const { opened, worker, stopped, lanes } = useWorkers(store);

  test('run a plan that was left to them: each instance once, within its limit, and the plan ends by itself', async (context) => {
    const made = await opened(context, 6);
    made.plan('west', GROUP);
    const at = await worker(made);
    const more = store === 'postgres' ? [await worker(made)] : [];
    const known = JSON.parse(await made.good('workers', '--json')) as {
      readonly items: readonly { readonly pid: number; readonly state: string }[];
    };
    const both = store === 'postgres' ? [at, ...more].map(({ child }) => child.pid) : [];
    expect(known.items.filter(({ state }) => state === 'live').map(({ pid }) => pid)).toEqual(
      expect.arrayContaining(both),
    );
    expect(await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach')).toContain(
      'left to the workers',
    );
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(Object.values(made.performed())).toEqual([1, 1, 1, 1, 1, 1]);
    expect((await made.mostAtWork())['data']).toBeLessThanOrEqual(3);
    for (const one of [at, ...more]) await stopped(one);
    const audit = await made.run('audit', 'verify');
    expect([0, 3], audit.stdout).toContain(audit.code);
  });

  test.skipIf(!hasTerminal())(
    'are watched on the screen of the plan that they run, to its end',
    async (context) => {
      const made = await opened(context, 1);
      made.plan(
        'west',
        `${GROUP}  - { id: people, after: [data], steps: [{ id: look, manual: { do: look at it } }] }\n`,
      );
      await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
      const terminal = openTerminal(made.product, made, ['watch']);
      context.onTestFinished(() => terminal.close());
      const screen = personAt(terminal, expect);
      await screen.shows(/watched plan.*you look on: /su);
      const at = await worker(made);
      await screen.shows(/data {2}done.*waits for a person.*look at it/su);
      // A worker may still have the step in hand, for a moment.
      const decide = () => made.run('plans', 'done', 'last', 'people/look', '--proof', 'seen by a test');
      await expect.poll(async () => (await decide()).code, PATIENTLY).toBe(0);
      await screen.asks('watched plan: over');
      screen.type('q');
      await screen.isGivenBack(0);
      await stopped(at);
    },
  );

  test('hold nothing while a run waits for a person, and go on as soon as one has decided', async (context) => {
    const made = await opened(context, 1);
    made.plan(
      'west',
      `${GROUP}  - { id: people, after: [data], steps: [{ id: look, manual: { do: look at it } }] }\n`,
    );
    const at = await worker(made);
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect
      .poll(async () => (await lanes(made)).lanes.map(({ state }) => state), PATIENTLY)
      .toEqual(['done', 'waiting']);
    await expect
      .poll(async () => (await made.entries('run/')).filter(({ type }) => type === 'run.detached').length)
      .toBeGreaterThanOrEqual(2);
    await made.good('plans', 'done', 'last', 'people/look', '--proof', 'seen by a test');
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    await stopped(at);
  });

  test('with one place go on with other instances while a service leaves a call unanswered', async (context) => {
    const answers = Promise.withResolvers<undefined>();
    const made = await opened(context, 2, (call) =>
      isPerform(call) && call.instance === 'db-1-dr' ? answers.promise : undefined,
    );
    made.plan('west', GROUP.replace('waves: [1, "100%"]', 'waves: ["100%"]'));
    const at = await worker(made, '--concurrency', '1');
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect
      .poll(async () => (await lanes(made)).lanes.map(({ state }) => state), PATIENTLY)
      .toEqual(['at-work', 'done']);
    answers.resolve(undefined);
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(made.performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
    await stopped(at);
  });

  // The workers of a home are known to themselves alone.
  test.skipIf(store === 'sqlite')(
    'that are all dead are shown as gone; a person stops their plan from elsewhere, and nothing more begins',
    async (context) => {
      const answers = Promise.withResolvers<undefined>();
      context.onTestFinished(() => answers.resolve(undefined));
      const made = await opened(context, 3, (call) => (isPerform(call) ? answers.promise : undefined));
      made.plan('west', GROUP);
      const only = await worker(made);
      await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
      const performs = () => made.server.calls.filter(isPerform).length;
      await expect.poll(performs, PATIENTLY).toBe(1);
      only.child.kill('SIGKILL');
      await only.ended;
      const states = async () => {
        const { items } = JSON.parse((await made.run('workers', '--json')).stdout) as {
          readonly items: readonly { readonly pid: number; readonly state: string }[];
        };
        return items.filter(({ pid }) => pid === only.child.pid).map(({ state }) => state);
      };
      await expect.poll(states, PATIENTLY).toEqual(['gone']);
      const stopping = await made.run('plans', 'stop', 'last', '--reason', 'its workers are dead');
      expect(stopping.code, stopping.stderr).toBe(0);
      const next = await worker(made);
      answers.resolve(undefined);
      await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
      expect(Object.values(made.performed()).toSorted()).toEqual([0, 0, 1]);
      await stopped(next);
    },
  );

  test('leave open a recovery that offers no end: the plan ends without proof, and a person ends each run', async (context) => {
    const made = await opened(context, 2, noFreshBackup);
    const passing = 'undo: none; the source stays, onFailure: continue, because: it may wait';
    made.plan('west', GROUP.replace('undo: none; the source stays', passing));
    const at = await worker(made);
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    const { lanes: ended } = await lanes(made);
    const left = ended.flatMap((lane) => lane.left ?? []);
    expect(left).toHaveLength(2);
    expect(made.performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
    for (const { runId } of left) {
      const abandoned = await made.run('resume', runId, '--abandon', 'backed up by hand');
      expect(abandoned.code, abandoned.stderr).toBe(0);
    }
    expect(made.performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
    await stopped(at);
  });

  test('report that a run waits for a person, who can then drive it to its end while they are running', async (context) => {
    const made = await opened(context, 1);
    const begun = await made.good('run', 'rotate-key', 'db-1', '--yes', '--detach');
    const run = /run (\S+) is left/u.exec(begun)?.[1] ?? '';
    const at = await worker(made);
    // Nobody has confirmed it, so it waits for its name.
    await expect.poll(() => at.stderr(), { timeout: 300_000 }).toContain('waits for a person');
    const { code, stderr } = await made.run('resume', run, '--yes', '--confirm', 'db-1');
    expect(code, stderr).toBe(0);
    await stopped(at);
  });

  test('begin a step of a plan as soon as the run in its way is over, which plans show names', async (context) => {
    const made = await opened(context, 2);
    made.plan('west', GROUP);
    const rotation = await made.run('run', 'rotate-key', 'db-1', '--yes');
    expect(rotation.code, rotation.stderr).toBe(3);
    const [, waiting = ''] = /lifeboat resume (\S+)/u.exec(rotation.stderr) ?? [];
    const at = await worker(made);
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    await expect
      .poll(() => made.good('plans', 'show', 'last'), PATIENTLY)
      .toMatch(/db-1 .*waits for the end of run \S+ on db-1/u);
    expect(Object.values(made.performed())).toEqual([0, 0]);
    await made.good('resume', waiting, '--abandon', 'it is in the way');
    await expect.poll(async () => (await lanes(made)).status, PATIENTLY).toBe('closed');
    expect(Object.values(made.performed())).toEqual([1, 1]);
    await stopped(at);
  });

  test('refuse a run whose key they do not hold before they take it', async (context) => {
    const made = await opened(context, 1);
    await made.good('run', 'rotate-key', 'db-1', '--yes', '--confirm', 'db-1', '--detach');
    const keyring = await openKeys(made.home);
    const [fingerprint = ''] = await keyring.list('db-1');
    await keyring.remove('db-1', fingerprint);
    const at = await worker(made);
    await expect.poll(() => at.stderr()).toContain(`not taken: key ${fingerprint} of db-1 is not in`);
    expect((await made.entries('run/')).filter(({ type }) => type === 'run.resumed')).toEqual([]);
    await stopped(at);
  });

  test('run at its time what the config schedules, and once what was missed while none of them was running', async (context) => {
    const schedule = 'schedules: [{ name: look, cron: "0 3 * * *", zone: Europe/Berlin, do: evaluate }]';
    const made = await opened(context, 1, undefined, schedule);
    const listed = JSON.parse(await made.good('schedules', '--json')) as {
      readonly items: readonly { readonly next: readonly string[]; readonly lastRan?: string }[];
    };
    expect(listed.items.map(({ next, lastRan }) => [next.length, lastRan])).toEqual([[5, undefined]]);
    const journal = await openStoreOf(
      { env: made.env },
      { by: 'a worker of the day before yesterday', signer: await signerOf(made.home) },
    );
    const before = new Date(Date.now() - 2 * 86_400_000);
    const record = new ScheduleRecord(journal);
    const begin = () => beginsNow(journal, record, { name: 'look' }, { at: before, late: false });
    const begun = await begin();
    expect(begun).toMatchObject({ isAgain: false });
    // Its worker died: another one begins it again.
    expect(await begin()).toEqual({ ...begun, isAgain: true });
    await hasRun(journal, { name: 'look' }, { at: before }, 0);
    expect(await begin()).toBeUndefined();
    await journal.close();
    const at = await worker(made);
    await expect.poll(() => at.stderr(), { timeout: 300_000 }).toContain('schedule look: ended with');
    expect(at.stderr()).toMatch(/schedule look: due at .*, late/u);
    await stopped(at);
    const again = await worker(made);
    await stopped(again);
    expect(again.stderr()).not.toContain('schedule look: due');
  });

  test('do once more what a worker began and did not end, but no rehearsal that has begun since', async (context) => {
    const daily = { cron: '0 3 * * *', zone: 'Europe/Berlin' };
    const both = ['again', 'begun'].map((name) => ({ name, ...daily, do: 'rehearse', plan: name }));
    const made = await opened(context, 1, undefined, `schedules: ${JSON.stringify(both)}`);
    for (const { name } of both)
      made.plan(name, 'groups: [{ id: people, steps: [{ id: look, manual: { do: look at it } }] }]\n');
    const journal = await openStoreOf(
      { env: made.env },
      { by: 'a worker that died', signer: await signerOf(made.home) },
    );
    const record = new ScheduleRecord(journal);
    const now = (await journal.clock())();
    const at = lastTime(daily, new Date(now.getTime() - 2 * 86_400_000), now) ?? now;
    for (const one of both) {
      await hasRun(journal, one, { at: new Date(at.getTime() - 86_400_000) }, 0);
      await beginsNow(journal, record, one, { at, late: false });
    }
    await journal.close();
    await made.good('plans', 'run', 'begun', '--rehearsal', '--confirm', 'people', '--yes', '--detach');
    const one = await worker(made);
    for (const { name } of both)
      await expect.poll(() => one.stderr(), { timeout: 300_000 }).toContain(`schedule ${name}: ended with 0`);
    expect(one.stderr()).toMatch(/schedule again: due at .*, late, begun before and not done/u);
    await stopped(one);
    const begun = (await made.entries('run/')).flatMap(({ type, body }) => {
      const { runbook, instance } = body as { readonly runbook: string; readonly instance: string };
      return type === 'run.started' && runbook === 'plan' ? [instance] : [];
    });
    expect(begun.toSorted()).toEqual(['plan.again', 'plan.begun']);
  });

  test.skipIf(store !== 'postgres')(
    'end with 1 while the shared folder is away, so that their unit begins them again',
    async (context) => {
      const made = await opened(context, 1);
      // A disk that is not mounted.
      renameSync(join(made.folder, 'shared'), join(made.folder, 'away'));
      const { code, stderr } = await made.run('worker');
      expect(stderr).toContain('the checkpoint folder of this team cannot be used');
      expect(code).toBe(1);
      expect((await made.run('run', 'rotate-key', 'db-1', '--yes', '--detach')).code).toBe(2);
    },
  );

  test('leave a run whose credentials the service refuses: it holds no place, and is not tried at once', async (context) => {
    const made = await opened(context, 2, undefined, 'workers: { perTeam: 1 }');
    await made.good('run', 'rotate-key', 'db-1', '--yes', '--confirm', 'db-1', '--detach');
    const token = readFileSync(made.tokenFile, 'utf8');
    writeFileSync(made.tokenFile, 'bearer expired');
    const at = await worker(made);
    await expect.poll(() => at.stderr(), { timeout: 300_000 }).toContain('waits for credentials');
    const left = (await made.entries('run/')).filter(({ type }) => type === 'run.detached');
    expect(left.map(({ body }) => (body as { readonly awaits?: string }).awaits)).toEqual(['credentials']);
    writeFileSync(made.tokenFile, token);
    await made.good('run', 'rotate-key', 'db-2', '--yes', '--confirm', 'db-2', '--detach');
    await expect.poll(() => at.stderr(), { timeout: 300_000 }).toMatch(/closed: the key is rotated/u);
    expect((await made.entries('run/')).filter(({ type }) => type === 'run.paused')).toHaveLength(1);
    await stopped(at);
  });

  test('that are killed at any moment are followed by others: each call once, none forgotten', async (context) => {
    const fails = new Set(['db-2-dr']);
    const loses = new Set(['db-4-dr']);
    const trouble = (call: Call): Trouble | undefined => {
      if (!isPerform(call) || call.instance === undefined) return undefined;
      if (fails.delete(call.instance)) return { task: { fails: true } };
      return loses.delete(call.instance) ? { answer: 'lost' } : undefined;
    };
    const made = await opened(context, 8, trouble);
    made.plan('west', GROUP.replace('undo:', 'onFailure: continue, because: a test says so, undo:'));
    await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    const draw = randomFrom(Number(process.env['SEED'] ?? 1));
    const workers = [await worker(made)];
    if (store === 'postgres') workers.push(await worker(made));
    for (let kills = 0; kills < 4; kills += 1) {
      const before = made.server.calls.length;
      const calls = 1 + Math.floor(draw() * 12);
      await expect
        .poll(() => made.server.calls.length, { timeout: 300_000 })
        .toBeGreaterThanOrEqual(before + calls);
      const victim = workers.shift();
      victim?.child.kill('SIGKILL');
      await victim?.ended;
      workers.push(await worker(made));
    }
    await expect
      .poll(
        async () => {
          // A call that never arrived is repeated by a person.
          const standing = await lanes(made);
          for (const { state, instance, step } of standing.lanes as never as readonly Record<
            string,
            string
          >[])
            if (state === 'waiting' && step === 'recover')
              await made.run('plans', 'retry', 'last', `data/${instance}/recover`);
          return standing.status;
        },
        { timeout: 600_000, interval: 500 },
      )
      .toBe('closed');
    expect(Object.entries(made.performed()).filter(([, times]) => times !== 1)).toEqual([]);
    expect((await made.mostAtWork())['data']).toBeLessThanOrEqual(3);
    for (const one of workers) await stopped(one);
  });
});
