import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { showRunPlainly } from '../../src/plain/show-run-plainly.ts';
import { QUIET_MS, SEVERAL_LINES } from '../../src/view/question-words.ts';
import type { QuestionView, RailStep, RunView } from '../../src/view/run-view.ts';
import { holdProcessUp, openWire } from '../bench-kit/wire.ts';
import { createFakeRun } from '../tui/fake-run.ts';
import { CHOICE, RUN_ID, SECRET, TYPED_NAME, VIEWS } from '../tui/fake-views.ts';
import { FORBIDDEN, HOSTILE, HOSTILE_KINDS, hostileView } from '../tui/hostile-views.ts';
import { createFakeStreams, SOON } from './fake-streams.ts';

const asking = (question: QuestionView): RunView => ({ ...VIEWS.choice, question });
const nobody = { answer: () => undefined };

describe('showRunPlainly', () => {
  it('prints a run as lines on stderr and its outcome on stdout', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.checking);
    const shown = showRunPlainly(run, io.streams);
    run.show(VIEWS.bytes);
    run.show(VIEWS.outcome);
    run.finish({ how: 'ended', exitCode: 0 });
    expect(await shown).toEqual({ how: 'ended', exitCode: 0 });
    expect(io.stderr()).toContain(`run ${RUN_ID}: Rotate the encryption key, orders, REHEARSAL\n`);
    expect(io.stderr()).toContain('step 1 of 11: look before the start\n');
    expect(io.stderr()).toContain('step 5 of 11: set the key\n');
    expect(io.stderr()).toContain('now: downloading backup 41\n');
    expect(io.stderr()).toContain('  45 %, 1.1 GiB of 2.5 GiB, 32.4 MiB/s\n');
    expect(io.stdout()).toBe(
      [
        'proven: the key of orders is rotated and proven',
        '  approved by ada@example.com',
        `run ${RUN_ID}: Rotate the encryption key, orders, REHEARSAL`,
        'took 12 min 4 s, 2026-11-21 03:00:41 to 03:12:45 UTC',
        'this run leaves no follow-up',
        `report: lifeboat report ${RUN_ID} --format html --out report-${RUN_ID}.html`,
        'anchor for the ticket: lifeboat:5b1e4c7a90d2f386:417:9c2d7f10a4e8b365:1f0c2',
        'the key:',
        '  new key: 77aa01bc9de2, in the keychain',
        'the proof:',
        '  verdict: readable with key 77aa01bc9de2',
        '',
      ].join('\n'),
    );
  });

  it('names what the run leaves for later', async () => {
    const io = createFakeStreams();
    const { outcome } = VIEWS.outcome;
    const leaves = ['retire key 0a1b2c3d4e5f of orders when no retained backup needs it'];
    const run = createFakeRun({ ...VIEWS.outcome, outcome: outcome && { ...outcome, leaves } });
    const shown = showRunPlainly(run, io.streams);
    run.finish({ how: 'ended', exitCode: 0 });
    await shown;
    expect(io.stdout()).not.toContain('leaves no follow-up');
    expect(io.stdout()).toContain(`leaves for later: ${leaves[0]} (lifeboat followups list)\n`);
  });

  it('claims no clean end if the content of an instance is unknown', async () => {
    const io = createFakeStreams();
    const { outcome } = VIEWS.outcome;
    const run = createFakeRun({ ...VIEWS.outcome, outcome: outcome && { ...outcome, unknown: 'orders-dr' } });
    const shown = showRunPlainly(run, io.streams);
    run.finish({ how: 'ended', exitCode: 0 });
    await shown;
    expect(io.stdout()).not.toContain('leaves no follow-up');
    expect(io.stdout()).toContain('look at what orders-dr holds before it is used\n');
  });

  it('prints every entry of the log once, even when the oldest have gone', async () => {
    const io = createFakeStreams();
    const entry = (at: number) => ({ at: '00:00:00', text: `entry ${at}.`, tone: 'plain' as const });
    const run = createFakeRun({ ...VIEWS.empty, log: [entry(1), entry(2), entry(3)] });
    const shown = showRunPlainly(run, io.streams);
    run.show({ ...VIEWS.empty, log: [entry(2), entry(3), entry(4)] });
    run.show({ ...VIEWS.empty, log: [entry(2), entry(3), entry(4)] });
    run.show({ ...VIEWS.empty, log: [entry(8), entry(9)] });
    await run.detach();
    await shown;
    expect(io.stderr().match(/entry \d/gu)).toEqual([1, 2, 3, 4, 8, 9].map((at) => `entry ${at}`));
  });

  it('prints the current step once, in the log or as what continues', async () => {
    const io = createFakeStreams();
    const at = '00:00:00';
    const activity = { title: 'waiting for backup 7', seconds: 0 };
    const moved = { at, text: 'done: ask; now at: waiting for backup 7', tone: 'plain' as const };
    const run = createFakeRun(VIEWS.empty);
    const shown = showRunPlainly(run, io.streams);
    const log = [{ ...moved, next: activity.title }];
    run.show({ ...VIEWS.empty, log });
    run.show({ ...VIEWS.empty, log, activity });
    run.show({ ...VIEWS.empty, log, activity: { title: 'reading it', seconds: 0 } });
    await run.detach();
    await shown;
    expect(io.stderr().match(/waiting for backup 7/gu)).toHaveLength(1);
    expect(io.stderr()).toContain('now: reading it\n');
  });

  it('prints once what has not answered, in a file as on a terminal', async () => {
    const io = createFakeStreams();
    const awaited = 'db.example.com has not answered GET /v1/instances/… since 03:14:07';
    const activity = { title: 'looking at the instance', seconds: 7 };
    const run = createFakeRun({ ...VIEWS.empty, activity });
    const shown = showRunPlainly(run, io.streams);
    run.show({ ...VIEWS.empty, activity: { ...activity, awaited } });
    run.show({ ...VIEWS.empty, activity: { ...activity, seconds: 8, awaited } });
    await run.detach();
    await shown;
    expect(io.stderr().match(/^ {2}db\.example\.com has not answered.*$/gmu)).toEqual([`  ${awaited}`]);
  });

  it('prints once when the run is expected to end, and once that it takes longer than usual', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.empty);
    const shown = showRunPlainly(run, io.streams);
    const expect12 = 'usually 12 min; expected to end 14:44 UTC, without the waits for you';
    const late = 'longer than usual (12 min), without the waits for you';
    for (const [seconds, runExpected] of [expect12, expect12, late, late].entries())
      run.show({ ...VIEWS.empty, activity: { title: 'waiting for backup 7', seconds, runExpected } });
    await run.detach();
    await shown;
    expect(io.stderr().match(/^run: .*$/gmu)).toEqual([`run: ${expect12}`, `run: ${late}`]);
  });

  it('numbers the steps that the run takes, names the skipped ones, and says when it goes back', async () => {
    const io = createFakeStreams();
    const rail = (...states: RailStep['state'][]): RailStep[] =>
      states.map((state, at) => ({ id: `${at}`, title: `part ${at}`, state }));
    const show = (...states: RailStep['state'][]) => run.show({ ...VIEWS.empty, rail: rail(...states) });
    const run = createFakeRun({ ...VIEWS.empty, rail: rail('current', 'ahead', 'ahead') });
    const shown = showRunPlainly(run, io.streams);
    show('done', 'skipped', 'current');
    show('done', 'skipped', 'failed');
    show('done', 'skipped', 'current');
    show('current', 'ahead', 'ahead');
    await run.detach();
    await shown;
    expect(io.stderr().match(/^(?:back to )?step .*$/gmu)).toEqual([
      'step 1 of 3: part 0',
      'step 2 of 3 is not needed: part 1',
      'step 3 of 3: part 2',
      'step 3 of 3: part 2',
      'back to step 1 of 3: part 0',
    ]);
  });

  it('uses words for what colours show elsewhere', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.paused);
    const shown = showRunPlainly(run, io.streams);
    await run.detach();
    await shown;
    expect(io.stderr()).toContain('attention: paused: the service refuses our token (401)\n');
    expect(io.stderr()).toContain('  hint: log in again with `cf login`, then press r\n');
    expect(io.stderr()).not.toContain('\u001b');
  });

  it.each([
    [{ NO_COLOR: '1' }, true, false],
    [{}, true, true],
    [{}, false, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j on a terminal (%s) the output is coloured: %s', async (env, isTTY, coloured) => {
    const io = createFakeStreams({ isTTY, env });
    const run = createFakeRun(VIEWS.paused);
    const shown = showRunPlainly(run, io.streams);
    await run.detach();
    await shown;
    expect(io.stderr().includes('\u001b[')).toBe(coloured);
    expect(io.stdout()).not.toContain('\u001b');
  });

  it('does not flood a file with progress', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.bytes);
    const shown = showRunPlainly(run, io.streams);
    for (let done = 0; done < 1000; done += 1) {
      run.show({
        ...VIEWS.bytes,
        activity: {
          ...VIEWS.bytes.activity,
          progress: { kind: 'bytes', done, total: 1000, bytesPerSecond: 1 },
        },
      });
    }
    await run.detach();
    await shown;
    expect(
      io
        .stderr()
        .split('\n')
        .filter((line) => line.includes('%')),
    ).toHaveLength(1);
  });

  it('rewrites one line of progress on a terminal and clears it for the next line', async () => {
    const io = createFakeStreams({ isTTY: true, env: { NO_COLOR: '1' } });
    const run = createFakeRun(VIEWS.bytes);
    const shown = showRunPlainly(run, io.streams);
    run.show({
      ...VIEWS.outcome,
      log: [...VIEWS.outcome.log, { at: '04:00:00', text: 'landed', tone: 'good' }],
    });
    run.finish({ how: 'ended', exitCode: 0 });
    await shown;
    expect(io.stderr()).toMatch(/\r {2}45 %[^\n]*\r +\r04:00:00 landed\n/u);
  });

  describe('a question that cannot be answered', () => {
    it.each([
      ['a choice', CHOICE, '--yes answers this with: set it'],
      ['a confirmation', TYPED_NAME, '--confirm orders-dr answers this'],
      ['a secret', SECRET, 'never from the command line'],
    ] as const)('%s: says what would answer it, and leaves the run open', async (_, question, sentence) => {
      const io = createFakeStreams();
      const run = createFakeRun(asking(question));
      expect(await showRunPlainly(run, io.streams, nobody)).toEqual({ how: 'detached', exitCode: 130 });
      expect(io.stderr()).toContain(`question: ${question.prompt}`);
      expect(io.stderr()).toContain(sentence);
      expect(io.stderr()).toContain(`lifeboat resume ${RUN_ID}`);
      expect(io.stdout()).toContain(`resume with: lifeboat resume ${RUN_ID}`);
      expect(run.answers).toEqual([]);
    });

    it('shows disabled answers with their reason', async () => {
      const io = createFakeStreams();
      await showRunPlainly(createFakeRun(VIEWS.choice), io.streams, nobody);
      expect(io.stderr()).toContain(
        'it was done outside (not now: the service says that its key has not changed)',
      );
    });
  });

  it('gives the answers that the flags determine, once per question', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.choice, (_, it) => it.show(asking(TYPED_NAME)));
    await showRunPlainly(run, io.streams, {
      answer: (question) => (question.kind === 'choice' ? { event: 'SET' } : undefined),
    });
    expect(run.answers).toEqual([{ event: 'SET' }]);
    expect(io.stderr()).toContain('answered: set it\n');
  });

  it('leaves the run open when an answer from a flag is refused', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(asking(TYPED_NAME));
    run.refuse(
      new LifeboatError('run.wrong-name', 'that is not the name of the target', { hints: ['look'] }),
    );
    const end = await showRunPlainly(run, io.streams, {
      answer: () => ({ event: 'CONFIRM', typed: 'orders' }),
    });
    expect(end.how).toBe('detached');
    expect(io.stderr()).toContain('refused: that is not the name of the target\n  hint: look\n');
  });

  it('is silent about a question that another person answers at once, and describes the question at which the run ends', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.choice);
    const shown = showRunPlainly(run, io.streams);
    run.show(asking(TYPED_NAME));
    await run.detach();
    await shown;
    expect(io.stderr()).not.toContain('question: Set the new key');
    expect(io.stderr()).toContain('--confirm orders-dr answers this');
  });

  it('only describes questions that another person answers', async () => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.choice);
    const shown = showRunPlainly(run, io.streams);
    await expect.poll(io.stderr, { timeout: 50_000 }).toContain('question: Set the new key');
    expect(run.calls).toEqual([]);
    run.show(VIEWS.outcome);
    run.finish({ how: 'ended', exitCode: 0 });
    await shown;
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('detaches on %s', async (signal) => {
    const io = createFakeStreams();
    const run = createFakeRun(VIEWS.task);
    const shown = showRunPlainly(run, io.streams);
    process.kill(process.pid, signal);
    expect((await shown).how).toBe('detached');
    expect(run.reasons).toEqual([`the process received ${signal}`]);
  });

  it('detaches on Ctrl-C that arrives together with an Escape', async () => {
    const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
    const run = createFakeRun(asking(TYPED_NAME));
    const shown = showRunPlainly(run, io.streams, { interactive: true });
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    io.stdin.write('\u001b\u0003');
    expect((await shown).how).toBe('detached');
    expect(run.reasons).toEqual(['the process received SIGINT']);
  });

  it('says why a run cannot be resumed and what remains of it, and nowhere how to resume it', async () => {
    const io = createFakeStreams();
    const gone = 'its lab ends with the drill: the run cannot be resumed; journal: /var/drill/lifeboat.db';
    const run = createFakeRun({ ...asking(TYPED_NAME), gone });
    await showRunPlainly(run, io.streams, nobody);
    expect(io.stdout()).toContain(`left: the run ends here\n`);
    expect(io.stdout()).toContain(`${gone}\n`);
    expect(io.stdout() + io.stderr()).not.toMatch(/lifeboat resume|resume with|nothing is lost/);
  });

  it('lets no byte of a hostile text act on the terminal', async () => {
    for (const text of HOSTILE) {
      for (const kind of HOSTILE_KINDS) {
        const io = createFakeStreams({ isTTY: true, env: { NO_COLOR: '1' } });
        const run = createFakeRun(hostileView(text, kind));
        const shown = showRunPlainly(run, io.streams, nobody);
        run.finish({ how: 'ended', exitCode: 1 });
        await shown;
        const seen = io.stdout() + io.stderr();
        expect(seen).toContain('HURT');
        expect(seen.replaceAll('\r', '').match(FORBIDDEN)).toBeNull();
      }
    }
  });
});

describe('an operator without the full screen', () => {
  const open = (view: RunView) => {
    const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
    const run = createFakeRun(view);
    const shown = showRunPlainly(run, io.streams, { interactive: true });
    const say = async (prompt: string, line: string) => {
      await expect.poll(io.stderr, SOON).toMatch(new RegExp(`${prompt}$`, 'u'));
      io.stdin.write(line);
    };
    const end = async () => {
      await run.detach();
      return shown;
    };
    return { io, run, say, shown, end };
  };

  it('answers by number and gives a reason where one is needed', async () => {
    const { run, say, end } = open(VIEWS.choice);
    await say('> ', '2\r');
    await say('why: ', 'the key is fine\r');
    await expect.poll(() => run.answers).toEqual([{ event: 'SKIP', text: 'the key is fine' }]);
    await end();
  });

  it('cannot take a disabled answer, an empty line or a number that is not there', async () => {
    const { io, run, say, end } = open(VIEWS.choice);
    for (const line of ['3\r', '\r', '9\r', '0\r', 'yes\r']) await say('> ', line);
    await expect.poll(() => io.stderr().match(/nothing was chosen/gu)).toHaveLength(4);
    expect(io.stderr()).toContain('not now: the service says');
    expect(run.answers).toEqual([]);
    await end();
  });

  it('confirms with the exact name only', async () => {
    const { run, say, end } = open(asking(TYPED_NAME));
    await say('> ', '\r');
    await say('> ', 'orders\r');
    await say('that is not the name: nothing happens\n> ', 'orders-dr \r');
    await say('that is not the name: there is a space after it\n> ', ' \r');
    expect(run.answers).toEqual([]);
    await say('> ', 'orders-dr\r');
    await expect.poll(() => run.answers).toEqual([{ event: 'CONFIRM', typed: 'orders-dr' }]);
    await end();
  });

  it('cannot confirm by a paste alone: the pasted line waits for a key', async () => {
    const { run, say, end } = open(asking(TYPED_NAME));
    await say('> ', '\u001b[200~orders-dr\n\u001b[201~');
    await say('> orders-dr\\s+> orders-dr', '\u001b[200~\n\u001b[201~');
    expect(run.answers).toEqual([]);
    await say('orders-dr', '\r');
    await expect.poll(() => run.answers).toEqual([{ event: 'CONFIRM', typed: 'orders-dr' }]);
    await end();
  });

  it('takes nothing from a paste of several lines, and says why', async () => {
    const { io, run, say, end } = open(VIEWS.choice);
    await say('> ', '1');
    await say('> 1', '\u001b[200~1\norders\n\u001b[201~');
    await say(`${SEVERAL_LINES}\n> 1`, '\r');
    await expect.poll(() => run.answers).toEqual([{ event: 'SET' }]);
    await end();
    expect(io.stderr()).not.toContain('1orders');
  });

  it('gives a secret twice, and none of it is shown', async () => {
    const secret = 'Tr0ub4dor&3-horse';
    const { io, run, say, end } = open(asking(SECRET));
    await say('secret: ', `${secret}\r`);
    await say('to compare: ', `${secret}\r`);
    await expect.poll(() => run.answers[0]?.secret?.reveal()).toBe(secret);
    await end();
    expect(io.stderr()).not.toContain('Tr0');
    expect(io.stderr()).not.toContain('horse');
  });

  it('cannot answer with text that was typed before the question appeared', async () => {
    const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
    io.stdin.write('1\r');
    const run = createFakeRun(VIEWS.choice);
    const shown = showRunPlainly(run, io.streams, { interactive: true });
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    expect(run.answers).toEqual([]);
    io.stdin.write('q\r');
    expect((await shown).how).toBe('detached');
    expect(run.answers).toEqual([]);
  });

  it('cannot answer with text that was typed while the process was blocked', async () => {
    const wire = await openWire();
    const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
    const run = createFakeRun(VIEWS.choice);
    const stdin = Object.assign(wire.end, { isTTY: true, setRawMode: () => stdin });
    // Once the question is said, the prompt waits for quiet. The line comes in that time, and is read after
    // it.
    const held = new Promise<void>((resolve) => {
      const look = () => {
        if (!io.stderr().includes(CHOICE.prompt)) return;
        io.streams.stderr.off('data', look);
        setImmediate(() => {
          wire.write('1\r');
          holdProcessUp(2 * QUIET_MS);
          resolve();
        });
      };
      io.streams.stderr.on('data', look);
    });
    const shown = showRunPlainly(run, { ...io.streams, stdin }, { interactive: true });
    await held;
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    expect(run.answers).toEqual([]);
    await run.detach();
    await shown;
    wire.stop();
  });

  it('answers with one of many lines in a row, and with none of them the next question', async () => {
    const io = createFakeStreams({ isTTY: true, env: { TERM: 'dumb' } });
    const run = createFakeRun(VIEWS.choice, (_, { show, answers }) =>
      show(asking({ ...CHOICE, prompt: `Question ${answers.length}?` })),
    );
    const shown = showRunPlainly(run, io.streams, { interactive: true });
    await expect.poll(io.stderr, SOON).toMatch(/> $/u);
    for (let at = 0; at < 10; at += 1) {
      io.stdin.write('1\r');
      await pause(QUIET_MS / 2);
    }
    expect(run.answers).toHaveLength(1);
    await expect.poll(io.stderr, SOON).toMatch(/Question 1\?[\s\S]*> $/u);
    await run.detach();
    await shown;
  });

  it('leaves with q, or from a field with /q', async () => {
    for (const [view, line] of [
      [VIEWS.choice, 'q\r'],
      [asking(TYPED_NAME), '/q\r'],
    ] as const) {
      const { say, shown } = open(view);
      await say('> ', line);
      expect((await shown).how).toBe('detached');
    }
  });
});
