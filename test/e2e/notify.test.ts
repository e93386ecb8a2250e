import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ROTATE, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const NOTHING = 'nothing to send now\n';
const HOOK_TOKEN = 'hook-Lw8sQ2zRt5yBn1';

type Answer = Parameters<typeof startReceiver>[0];

interface Item {
  readonly id: string;
  readonly target: string;
  readonly outcome: string;
  readonly status?: number;
  readonly why?: string;
}

describe.concurrent('notifications', () => {
  const benches = useQuickBenches();

  async function scene(context: TestContext, answer: Answer) {
    const bench = await benches(context);
    const receiver = await startReceiver(answer);
    context.onTestFinished(() => receiver.close());
    writeFileSync(join(bench.folder, 'hook-token'), `${HOOK_TOKEN}\n`, { mode: 0o600 });
    return { ...bench, receiver };
  }

  test('of a question and an end reach each target once; a failing target stops nothing and is tried again', async (context) => {
    const { expect } = context;
    const opened = await scene(context, (path, count) => {
      if (path === '/silent' && count === 1) return undefined;
      if (path === '/moved') return 307;
      return path === '/flaky' && count === 1 ? 500 : 204;
    });
    const { run, receiver, folder, entries } = opened;
    const inbox = join(folder, 'inbox');
    notify(
      opened,
      `{ name: hook, url: '${receiver.urlOf('/hook')}', headers: { Authorization: { file: ./hook-token } } }`,
      `{ name: flaky, url: '${receiver.urlOf('/flaky')}', on: [question] }`,
      `{ name: moved, url: '${receiver.urlOf('/moved')}', on: [question] }`,
      `{ name: silent, url: '${receiver.urlOf('/silent')}', on: [question] }`,
      `{ name: script, command: [sh, -c, 'cat >> "$1" && echo >> "$1"', sh, ${inbox}] }`,
    );

    const left = await run(...ROTATE, '-o', 'json');
    expect(left.code, left.stderr).toBe(3);
    expect(left.stderr).toMatch(/^warning: flaky did not take a notification: status 500$/mu);
    expect(left.stderr).toMatch(/^warning: silent did not take a notification: left$/mu);
    const [question] = at(receiver, '/hook');
    expect(question?.headers).toMatchObject({
      authorization: `Bearer ${HOOK_TOKEN}`,
      'content-type': 'application/json',
    });
    const { run: runId } = question?.body ?? {};
    expect(question?.body).toEqual({
      schema: 'lifeboat.notification/1',
      id: expect.stringMatching(new RegExp(`^question/${runId}/\\d+$`, 'u')),
      event: 'question',
      since: expect.stringMatching(/Z$/u),
      run: runId,
      runbook: 'rotate-key',
      instance: 'orders',
      mode: 'LIVE',
      title: expect.any(String),
      text: expect.stringContaining('rotate-key on orders waits for a person: '),
      command: `lifeboat resume ${runId}`,
    });

    const again = await run('notify', 'send', '--all', '--json');
    expect(again.code).toBe(1);
    expect(itemsIn<Item>(again.stdout)).toEqual([
      expect.objectContaining({ target: 'flaky', outcome: 'delivered', status: 204 }),
      expect.objectContaining({ target: 'moved', outcome: 'failed', status: 307 }),
      expect.objectContaining({ target: 'silent', outcome: 'delivered' }),
    ]);

    expect((await run('resume', '--abandon', 'a test')).code).toBe(0);
    const ended = at(receiver, '/hook').slice(1);
    expect(ended.map(({ body }) => body)).toEqual([
      expect.objectContaining({ id: `ended/${runId}`, event: 'ended', outcome: 'abandoned' }),
    ]);
    const nothing = await run('notify', 'send', '--all');
    expect(nothing).toMatchObject({ code: 0, stdout: NOTHING });
    expect(at(receiver, '/redirected')).toEqual([]);
    expect(at(receiver, '/flaky').map(({ body }) => body['event'])).toEqual(['question', 'question']);
    const told = readFileSync(inbox, 'utf8').trim().split('\n');
    expect(told.map((line) => JSON.parse(line))).toEqual(at(receiver, '/hook').map(({ body }) => body));

    const kept = `${JSON.stringify(await entries())}${JSON.stringify(receiver.received.map(({ body }) => body))}`;
    for (const secret of [...Object.values(CANARIES), HOOK_TOKEN]) expect(kept).not.toContain(secret);
    const checks = itemsIn<{ what: string; state: string; found: string }>(
      (await run('doctor', '--json')).stdout,
    );
    const found = (name: string) => checks.find(({ what }) => what === `notify: ${name}`);
    expect(found('hook')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^last attempt .* UTC, delivered/u),
    });
    expect(found('moved')).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(/ UTC, failed: status 307$/u),
    });
  });

  test('left by a killed process are delivered once by the next writer, with the same id', async (context) => {
    const { expect } = context;
    let isDead = true;
    const opened = await scene(context, () => (isDead ? undefined : 200));
    const { start, run, receiver } = opened;
    notify(opened, `{ name: hook, url: '${receiver.urlOf('/hook')}' }`);
    const running = start(...ROTATE);
    const first = await receiver.first('/hook');
    running.child.kill('SIGKILL');
    await running.ended;
    isDead = false;
    const [writes, sends] = await Promise.all([
      start('keys', 'add', 'orders', '--token', '--file', opened.tokenFile).ended,
      start('notify', 'send').ended,
    ]);
    expect([writes.code, sends.code], `${writes.stderr}${sends.stderr}`).toEqual([0, 0]);
    expect(at(receiver, '/hook').map(({ body }) => body)).toEqual([first.body, first.body]);
    expect((await run('notify', 'send')).stdout).toBe(NOTHING);
  });

  test('begin when a target is configured, which receives nothing about older runs and drills', async (context) => {
    const { expect } = context;
    const opened = await scene(context, () => 200);
    const { run, receiver, home } = opened;
    await run(...ROTATE);
    await run('resume', '--abandon', 'a test');
    await run(...ROTATE);
    const id = '20260101-000000';
    const about = {
      id,
      scope: 'full',
      revision: '62',
      version: '0.1.0',
      begunAt: '2026-01-01T00:00:00.000Z',
    };
    const record = { schema: 'lifeboat.drill/1', ...about, outcome: 'failed', chapters: [] };
    mkdirSync(join(home, 'drills', id), { recursive: true });
    writeFileSync(join(home, 'drills', id, 'drill.json'), JSON.stringify(record));
    notify(opened, `{ name: hook, url: '${receiver.urlOf('/hook')}' }`);
    expect((await run('notify', 'send', '--all')).stdout).toBe(NOTHING);
    await run('resume', '--abandon', 'a test');
    expect(receiver.received.map(({ body }) => body['event'])).toEqual(['ended']);
  });

  test('of drills say once that a drill failed and that one is due', async (context) => {
    const { expect } = context;
    const opened = await scene(context, () => 200);
    const { run, startUnder, receiver, home, folder, env } = opened;
    notify(opened, `{ name: hook, url: '${receiver.urlOf('/hook')}' }`);
    appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'drills: { every: 90d }\n');
    for (const name of ['initdb', 'postgres'])
      writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const drill = await startUnder(['env', `LIFEBOAT_PGBIN=${folder}`], 'drill', '--auto').ended;
    expect(drill.code, drill.stderr).toBe(1);
    const [id] = readdirSync(join(home, 'drills'));
    expect(receiver.received.map(({ body }) => body)).toEqual([
      expect.objectContaining({
        id: 'drill-due/first',
        event: 'drill-due',
        command: 'lifeboat drill --auto',
      }),
      expect.objectContaining({ id: `drill-failed/${id}`, event: 'drill-failed', drill: id }),
    ]);
    expect((await run('notify', 'send')).stdout).toBe(NOTHING);
  });

  test('can be tested: each answer is shown, but no secret, and a missing source is named', async (context) => {
    const { expect } = context;
    const opened = await scene(context, () => 200);
    const { run, receiver } = opened;
    const nobody = await run('notify', 'test');
    expect(nobody).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is nobody to notify in '),
    });
    notify(
      opened,
      `{ name: hook, url: '${receiver.urlOf('/hook')}' }`,
      `{ name: away, url: { env: NO_SUCH_HOOK } }`,
      `{ name: plain, url: 'http://hooks.example.com/lifeboat' }`,
    );
    const { code, stdout } = await run('notify', 'test', '--json');
    expect(code).toBe(1);
    expect(itemsIn<Item>(stdout)).toEqual([
      { target: 'hook', outcome: 'delivered', status: 200, said: expect.not.stringContaining('\u001b') },
      { target: 'away', outcome: 'failed', why: 'credentials.missing' },
      { target: 'plain', outcome: 'failed', why: 'config.notify' },
    ]);
    expect(receiver.received.map(({ body }) => body['event'])).toEqual(['test']);
    const one = await run('notify', 'test', 'hook');
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('delivered') });
  });

  test('show and record no secret that a receiver or a command prints', async (context) => {
    const { expect } = context;
    const opened = await scene(context, () => 500);
    const { run, receiver, folder, entries } = opened;
    const address = 'echo/T0123456789/chat-Kq7vX3mPz9';
    writeFileSync(join(folder, 'address'), receiver.urlOf(`/${address}?key=key-Hd5sN2wLr8`), { mode: 0o600 });
    notify(
      opened,
      `{ name: hook, url: '${receiver.urlOf('/echo')}', headers: { Authorization: { file: ./hook-token } } }`,
      `{ name: key, url: '${receiver.urlOf('/echo')}', headers: { X-Api-Key: { file: ./hook-token } } }`,
      '{ name: chat, url: { file: ./address } }',
      `{ name: script, command: 'echo "Authorization: Bearer ${HOOK_TOKEN}-of-its-own" >&2; exit 1' }`,
    );
    const table = await run('notify', 'test');
    const json = await run('notify', 'test', '--json');
    expect([table.code, json.code]).toEqual([1, 1]);
    const said = itemsIn<{ said: string }>(json.stdout).map((item) => item.said);
    expect(said).toEqual(Array.from({ length: 4 }, () => expect.stringContaining('[secret]')));
    expect((await run(...ROTATE)).stderr).toContain('warning: hook did not take a notification: status 500');
    const shown = `${table.stdout}${table.stderr}${json.stdout}${json.stderr}${JSON.stringify(await entries())}`;
    for (const secret of [HOOK_TOKEN, 'chat-Kq7vX3mPz9', 'key-Hd5sN2wLr8', 'T0123456789'])
      expect(shown).not.toContain(secret);
  });
});

function notify({ env }: Pick<TestBench, 'env'>, ...targets: readonly string[]): void {
  appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', ['notify:', ...targets].join('\n  - ').concat('\n'));
}

function at({ received }: Receiver, path: string) {
  return received.filter((one) => one.path === path);
}
