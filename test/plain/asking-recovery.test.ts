import { describe, expect, it } from 'vitest';
import { showRunPlainly } from '../../src/plain/show-run-plainly.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { OBLIGATIONS, OWED } from '../tui/fake-recovery.ts';
import { createFakeRun, PAPER } from '../tui/fake-run.ts';
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

describe('a moment, by lines', () => {
  it('is read, shown in both zones and taken by a word of its own', async () => {
    const { io, run, say, end } = open(VIEWS.time);
    await say('> ', '2026-11-21 02:30 UTC');
    await say('y takes it: ', 'y');
    await expect
      .poll(() => run.answers)
      .toEqual([{ event: 'operator.time', time: '2026-11-21T02:30:00.000Z' }]);
    expect(io.stderr()).toMatch(/from 2026-11-2\d \d\d:00:07 [+-]\d\d:\d\d \(2026-11-20 02:00:07 UTC\)/u);
    expect(io.stderr()).toMatch(/ {2}2026-11-2\d \d\d:30:00 [+-]\d\d:\d\d\n {2}2026-11-21 02:30:00 UTC\n/u);
    expect(io.stderr()).toContain('42 min 45 s ago: what was written in these 42 min 45 s is lost');
    await end();
  });

  it.each(['', 'n', 'yes', 'Y'])('is not taken by %j, and can be typed again', async (word) => {
    const { io, run, say, end } = open(VIEWS.time);
    await say('> ', '2026-11-21 02:30 UTC');
    await say('y takes it: ', word);
    await expect.poll(io.stderr, SOON).toMatch(/not taken, so nothing happens\n> $/u);
    expect(run.answers).toEqual([]);
    await end();
  });

  it('says why a text is no moment of the range', async () => {
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
  it('is given when it fits, and told what fits otherwise', async () => {
    const { io, run, say, end } = open(VIEWS.text);
    await say('> ', '4a1f');
    await expect.poll(io.stderr, SOON).toMatch(/\na backup guid has eight digits from 0 to f\n> $/u);
    await say('> ', ' 4a1f77e0 ');
    await expect.poll(() => run.answers).toEqual([{ event: 'operator.guid', text: '4a1f77e0' }]);
    await end();
  });
});

describe('what is owed, by lines', () => {
  it('is settled by its number, a way and a proof', async () => {
    const { io, run, say, end } = open(VIEWS.owed);
    await say('> ', '1');
    await say('goes back\\)\\? ', '2');
    await say('proof: ', 'build 77 is up');
    await expect
      .poll(() => run.answers)
      .toEqual([{ event: 'operator.settle', id: 'rebind-orders-api', text: 'build 77 is up' }]);
    for (const command of OWED[0]?.commands ?? []) expect(io.stderr().split('\n')).toContain(command);
    expect(io.stderr()).toContain('answered: orders-api: it was done by hand\n');
    await end();
  });

  it('is done from here where that is possible', async () => {
    const { run, say, end } = open(VIEWS.owed);
    await say('> ', '2');
    await say('goes back\\)\\? ', '1');
    await expect.poll(() => run.answers).toEqual([{ event: 'operator.pay', id: 'fresh-backup' }]);
    await end();
  });

  it('leads back with an empty line, and has the answers for all of it after the list', async () => {
    const { run, say, end } = open(VIEWS.owed);
    await say('> ', '3');
    await say('goes back\\)\\? ', '');
    await say('> ', '4');
    await expect.poll(() => run.answers).toEqual([{ event: 'ALL' }]);
    await end();
  });

  it('is not asked anew while only its age goes on', async () => {
    const { io, run, end } = open(VIEWS.owed);
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    const older = OWED.map((owed) => ({ ...owed, age: (owed.age ?? 0) + 60 }));
    run.show({ ...VIEWS.owed, question: { ...OBLIGATIONS, open: older } });
    expect(io.stderr().match(/question: /gu)).toHaveLength(1);
    await end();
  });

  it('is told when it comes and when it is settled, and counted', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.task);
    const shown = showRunPlainly(run, io.streams);
    run.show(VIEWS.owing);
    expect(io.stderr()).toContain(
      'owed: unbind, bind and restage orders-api, due in 12m, owed for 14m by mira\n',
    );
    expect(io.stderr()).toContain(
      'owed: make a backup of the new timeline, attention: overdue by 3m, owed for 15m by mira\n',
    );
    expect(io.stderr()).toContain('owing 3\n');
    const [first, ...others] = OWED;
    const settled = { tone: 'good', text: 'by the platform, job 77' } as const;
    run.show({ ...VIEWS.owing, obligations: [...(first ? [{ ...first, settled }] : []), ...others] });
    expect(io.stderr()).toContain(
      'settled: unbind, bind and restage orders-api (by the platform, job 77)\nowing 2\n',
    );
    await run.detach();
    await shown;
    expect(io.stdout()).toContain('RTO: attention: 28 min 4 s of 30 min (decide 2m10s');
    expect(io.stdout()).toContain('RPO: 12 min of 1 h (from the data: newest order)\n');
    expect(io.stdout()).toContain('still owing 2: `lifeboat owe` lists it\n');
  });
});

describe('the paper lifeboat, by lines', () => {
  it.each([
    ['a choice', VIEWS.choice, 'p'],
    ['what is owed', VIEWS.owed, 'p'],
    ['a confirmation', VIEWS.typedName, '/p'],
    ['a moment', VIEWS.time, '/p'],
    ['a word', VIEWS.text, '/p'],
  ] as const)('is printed at %s, and the question stays open', async (_, view, key) => {
    const { io, run, say, end } = open(view);
    await say('> ', key);
    await expect.poll(io.stderr, SOON).toContain(`\n${PAPER.split('\n').slice(1).join('\n')}\n> `);
    expect(run.answers).toEqual([]);
    await end();
  });
});

describe('with nobody to ask', () => {
  it.each([
    ['a moment', VIEWS.time, '--to TIME answers this'],
    ['a word', VIEWS.text, '--guid WORD answers this'],
    ['what is owed', VIEWS.owed, 'lifeboat owe settle rebind-orders-api --proof TEXT'],
  ] as const)('%s: says what answers it and leaves the run open', async (_, view, sentence) => {
    const io = createFakeStreams();
    const run = createFakeRun(view);
    const end = await showRunPlainly(run, io.streams, { answer: () => undefined });
    expect(end.how).toBe('detached');
    expect(io.stderr()).toContain(sentence);
    expect(io.stderr()).toContain(`lifeboat resume ${RUN_ID} in a terminal`);
    expect(run.answers).toEqual([]);
  });
});
