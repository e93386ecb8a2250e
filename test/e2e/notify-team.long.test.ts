import { appendFileSync } from 'node:fs';
import { type TestContext, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { ROTATE, type TestBench } from '../bench-kit/test-bench.ts';
import { openTeam } from '../team/team.ts';
import { startReceiver } from './receiver.ts';

/* Two people with a home each and one PostgreSQL: the first to look delivers, and no one does so again. */
const product = builtProduct({ cheapVault: true, leaseMs: 3_000 });
const NOTHING = 'nothing to send now\n';
const LONG = { timeout: 1_800_000 };
const LEASE_OVER = { timeout: 600_000, interval: 200 };

async function sitDown(context: TestContext, answer: Parameters<typeof startReceiver>[0]) {
  const team = await openTeam(product);
  context.onTestFinished(() => team.close());
  const receiver = await startReceiver(answer);
  context.onTestFinished(() => receiver.close());
  const [ada, bob] = [team.ada.bench, team.bob.bench];
  for (const { env } of [ada, bob])
    appendFileSync(
      env['LIFEBOAT_CONFIG'] ?? '',
      `notify:\n  - { name: hook, url: '${receiver.urlOf('/hook')}' }\n`,
    );
  const ids = () => receiver.received.map(({ body }) => body['id']);
  return { ada, bob, receiver, ids };
}

const send = (bench: TestBench, ...flags: readonly string[]) => bench.here('notify', 'send', ...flags);

test('a notification that one of two homes has delivered is not due in the other', LONG, async (context) => {
  const { expect } = context;
  let isDown = false;
  const { ada, bob, receiver, ids } = await sitDown(context, () => (isDown ? 500 : 204));
  const left = await ada.here(...ROTATE);
  expect(left.code, left.stderr).toBe(3);
  const runId = receiver.received[0]?.body['run'];
  expect(ids()).toEqual([expect.stringMatching(new RegExp(`^question/${runId}/\\d+$`, 'u'))]);
  for (const bench of [bob, ada])
    expect(await send(bench, '--all')).toMatchObject({ code: 0, stdout: NOTHING });

  isDown = true;
  const ended = await bob.here('resume', String(runId), '--abandon', 'a test');
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('hook did not take a notification: status 500');
  isDown = false;
  const both = await Promise.all([send(ada, '--all'), send(bob, '--all')]);
  expect(
    both.map(({ code }) => code),
    both.map(({ stderr }) => stderr).join(''),
  ).toEqual([0, 0]);
  expect(both.map(({ stdout }) => stdout)).toContain(NOTHING);
  expect(ids().slice(1)).toEqual([`ended/${runId}`, `ended/${runId}`]);
  for (const bench of [ada, bob]) expect((await send(bench, '--all')).stdout).toBe(NOTHING);
});

test(
  'a notification whose delivery was killed is delivered by the other home once the lease is over',
  LONG,
  async (context) => {
    const { expect } = context;
    let isDead = true;
    const seen = async () => {
      const scene = await sitDown(context, () => (isDead ? undefined : 204));
      const running = scene.ada.start(...ROTATE);
      const first = await scene.receiver.first('/hook');
      const looked = await send(scene.bob);
      const isDelivering = first.isOpen();
      running.child.kill('SIGKILL');
      await running.ended;
      // An attempt ends after ten seconds: on a busy machine, that may be before the other home has looked.
      return isDelivering ? { ...scene, first, looked } : undefined;
    };
    let scene = await seen();
    while (scene === undefined) scene = await seen();
    const { ada, bob, ids, first, looked } = scene;
    expect(looked.stdout).toBe(NOTHING);
    isDead = false;
    await expect.poll(async () => (await send(bob)).stdout, LEASE_OVER).toContain('delivered');
    expect(ids()).toEqual([first.body['id'], first.body['id']]);
    expect((await send(ada, '--all')).stdout).toBe(NOTHING);
    expect((await send(bob, '--all')).stdout).toBe(NOTHING);
  },
);
