import { afterEach, describe, expect, it, vi } from 'vitest';
import { showRunPlainly } from '../../src/plain/show-run-plainly.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { FOLLOW_UPS, OPEN_FOLLOW_UPS } from '../tui/fake-recovery.ts';
import { createFakeRun, FALLBACK } from '../tui/fake-run.ts';
import { RUN_ID, VIEWS } from '../tui/fake-views.ts';
import { createFakeStreams, SOON } from './fake-streams.ts';

function open(view: RunView) {
  const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
  const run = createFakeRun(view);
  const shown = showRunPlainly(run, io.streams, { interactive: true });
  const say = async (prompt: string, line: string) => {
    await expect.poll(io.stderr, SOON).toMatch(new RegExp(`${prompt}$`, 'u'));
    io.stdin.write(`${line}\r`);
  };
  const end = async () => {
    await run.detach();
    return shown;
  };
  return { io, run, say, end };
}

afterEach(() => vi.unstubAllEnvs());

describe('a moment, by lines', () => {
  it('is parsed, shown in both zones and confirmed by a word of its own', async () => {
    vi.stubEnv('TZ', 'Asia/Kolkata');
    const { io, run, say, end } = open(VIEWS.time);
    await say('> ', '2026-11-21 02:30 UTC');
    await say('type y: ', 'y');
    await expect
      .poll(() => run.answers)
      .toEqual([{ event: 'operator.time', time: '2026-11-21T02:30:00.000Z' }]);
    expect(io.stderr()).toContain('from 2026-11-20 07:30:07 +05:30 (2026-11-20 02:00:07 UTC)');
    expect(io.stderr()).toContain('  2026-11-21 08:00:00 +05:30\n  2026-11-21 02:30:00 UTC\n');
    expect(io.stderr()).toContain('42 min 45 s ago: what was written since is lost');
    await end();
  });

  it.each(['', 'n', 'yes', 'Y'])('is not accepted as %j, and can be typed again', async (word) => {
    const { io, run, say, end } = open(VIEWS.time);
    await say('> ', '2026-11-21 02:30 UTC');
    await say('type y: ', word);
    await expect.poll(io.stderr, SOON).toMatch(/not taken: nothing happens\n> $/u);
    expect(run.answers).toEqual([]);
    await end();
  });

  it('says why a text is not a moment in the range', async () => {
    const { io, run, say, end } = open(VIEWS.time);
    await say('> ', 'whenever');
    await expect.poll(io.stderr, SOON).toMatch(/"whenever" is not a time that can be read.*\n> $/u);
    await say('> ', '2026-11-19 02:30 UTC');
    await expect.poll(io.stderr, SOON).toMatch(/before the earliest: choose between .*\n> $/u);
    expect(run.answers).toEqual([]);
    await end();
  });

  it('leaves the other answers to a number after a slash', async () => {
    const { run, say, end } = open(VIEWS.time);
    await say('> ', '/1');
    await expect.poll(() => run.answers).toEqual([{ event: 'STOP' }]);
    await end();
  });
});

describe('a word, by lines', () => {
  it('is given when it fits, and answered with what fits otherwise', async () => {
    const { io, run, say, end } = open(VIEWS.text);
    await say('> ', '4a1f');
    await expect.poll(io.stderr, SOON).toMatch(/\na backup guid has eight digits from 0 to f\n> $/u);
    await say('> ', ' 4a1f77e0 ');
    await expect.poll(() => run.answers).toEqual([{ event: 'operator.guid', text: '4a1f77e0' }]);
    await end();
  });
});

describe('follow-ups, by lines', () => {
  it('are closed by their number, a way and a proof', async () => {
    const { io, run, say, end } = open(VIEWS.openFollowUps);
    await say('> ', '1');
    await say('goes back\\)\\? ', '2');
    await say('proof: ', 'build 77 is up');
    await expect
      .poll(() => run.answers)
      .toEqual([{ event: 'operator.reportDone', id: 'rebind-orders-api', text: 'build 77 is up' }]);
    for (const command of OPEN_FOLLOW_UPS[0]?.commands ?? [])
      expect(io.stderr().split('\n')).toContain(command);
    expect(io.stderr()).toContain('answered: orders-api: it was done by hand\n');
    await end();
  });

  it('are done from here where that is possible', async () => {
    const { run, say, end } = open(VIEWS.openFollowUps);
    await say('> ', '2');
    await say('goes back\\)\\? ', '1');
    await expect.poll(() => run.answers).toEqual([{ event: 'operator.doNow', id: 'fresh-backup' }]);
    await end();
  });

  it('lead back with an empty line, and list the answers for all of them at the end', async () => {
    const { run, say, end } = open(VIEWS.openFollowUps);
    await say('> ', '3');
    await say('goes back\\)\\? ', '');
    await say('> ', '4');
    await expect.poll(() => run.answers).toEqual([{ event: 'ALL' }]);
    await end();
  });

  it('are not asked again while only their age changes', async () => {
    const { io, run, end } = open(VIEWS.openFollowUps);
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    const older = OPEN_FOLLOW_UPS.map((followUp) => ({ ...followUp, age: (followUp.age ?? 0) + 60 }));
    run.show({ ...VIEWS.openFollowUps, question: { ...FOLLOW_UPS, open: older } });
    expect(io.stderr().match(/question: /gu)).toHaveLength(1);
    await end();
  });

  it('are reported when they open and when they close, and counted', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.task);
    const shown = showRunPlainly(run, io.streams);
    run.show(VIEWS.restaging);
    expect(io.stderr()).toContain(
      'follow-up: unbind, bind and restage orders-api, due in 12m, open for 14m, owner mira\n',
    );
    expect(io.stderr()).toContain(
      'follow-up: create a backup of the new timeline, attention: overdue by 3m, open for 15m, owner mira\n',
    );
    expect(io.stderr()).toContain('follow-ups open: 3\n');
    const [first, ...others] = OPEN_FOLLOW_UPS;
    const closed = { tone: 'good', text: 'by the platform, job 77' } as const;
    run.show({ ...VIEWS.restaging, followUps: [...(first ? [{ ...first, closed }] : []), ...others] });
    expect(io.stderr()).toContain(
      'follow-up closed: unbind, bind and restage orders-api (by the platform, job 77)\nfollow-ups open: 2\n',
    );
    await run.detach();
    await shown;
    expect(io.stdout()).toContain('RTO: attention: 28 min 4 s of 30 min (decide 2 min 10 s');
    expect(io.stdout()).toContain('RPO: 12 min of 1 h (from the data: newest order)\n');
    expect(io.stdout()).toContain('2 open follow-ups; list them with: lifeboat followups list\n');
  });
});

describe('the fallback script, by lines', () => {
  it.each([
    ['a choice', VIEWS.choice, 's'],
    ['follow-ups', VIEWS.openFollowUps, 's'],
    ['a confirmation', VIEWS.typedName, '/s'],
    ['a moment', VIEWS.time, '/s'],
    ['a word', VIEWS.text, '/s'],
  ] as const)('is printed at %s, and the question stays open', async (_, view, key) => {
    const { io, run, say, end } = open(view);
    await say('> ', key);
    await expect.poll(io.stderr, SOON).toContain(`\n${FALLBACK.split('\n').slice(1).join('\n')}\n> `);
    expect(run.answers).toEqual([]);
    await end();
  });
});

describe('with no one to ask', () => {
  it.each([
    ['a moment', VIEWS.time, '--to TIME answers this'],
    ['a word', VIEWS.text, '--guid WORD answers this'],
    ['follow-ups', VIEWS.openFollowUps, 'lifeboat followups done rebind-orders-api --proof TEXT'],
  ] as const)('%s: says what answers it and leaves the run open', async (_, view, sentence) => {
    const io = createFakeStreams();
    const run = createFakeRun(view);
    const end = await showRunPlainly(run, io.streams, { answer: () => undefined });
    expect(end.how).toBe('detached');
    expect(io.stderr()).toContain(sentence);
    expect(io.stderr()).toContain(`in a terminal: lifeboat resume ${RUN_ID}`);
    expect(run.answers).toEqual([]);
  });
});
