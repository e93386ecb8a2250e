import { afterEach, describe, expect, it } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { firstFrame } from '../../src/tui/first-frame.ts';
import { showRun } from '../../src/tui/show-run.ts';
import type { RunEnd } from '../../src/view/run-port.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { createFakeRun, type FakeRun } from './fake-run.ts';
import { createFakeTerminal, type FakeTerminal, KEYS } from './fake-terminal.ts';
import { CHOICE, RUN_ID, SECRET, TYPED_NAME, VIEWS } from './fake-views.ts';

const running: { run: FakeRun; shown: Promise<RunEnd> }[] = [];

/** A screen with a clock that stands still until the test moves it. */
async function open(view: RunView, terminal = createFakeTerminal()) {
  const run = createFakeRun(view);
  let now = 0;
  const shown = showRun(run, terminal.streams, { now: () => now });
  running.push({ run, shown });
  await terminal.until((screen) => screen.includes(view.instance.slice(0, 6)));
  now = 1000;
  const pass = () => {
    now += 1000;
  };
  return { terminal, run, shown, pass };
}

afterEach(async () => {
  for (const { run, shown } of running.splice(0)) {
    await run.detach();
    await shown.catch(() => {});
  }
});

const asking = (question: RunView['question']): RunView => ({
  ...VIEWS.choice,
  ...(question && { question }),
});

describe('showRun', () => {
  it('takes the whole terminal and gives it back as it was', async () => {
    const { terminal, run, shown, pass } = await open(VIEWS.task);
    expect(terminal.isAlternate()).toBe(true);
    expect(terminal.isRaw()).toBe(true);
    await terminal.type('q');
    await terminal.until('leave this run?');
    pass();
    await terminal.type(KEYS.down, KEYS.enter);
    expect(await shown).toEqual({ how: 'detached', exitCode: 130 });
    expect(terminal.isAlternate()).toBe(false);
    expect(terminal.isRaw()).toBe(false);
    expect(terminal.bytes()).toMatch(/\u001b\[\?25h/u);
    expect(terminal.bytes()).toMatch(/\u001b\[\?2004l/u);
    // The title of the window is put aside before it is changed, and comes back.
    expect(terminal.bytes()).toMatch(/^[^\]]*\u001b\[22;2t.*\u001b\]2;.*\u001b\[23;2t/su);
    expect(run.calls).toEqual(['detach']);
  });

  it('says on the normal screen how to resume a run that was left', async () => {
    const { terminal, shown, pass } = await open(VIEWS.choice);
    await terminal.type(KEYS.ctrlC);
    await terminal.until('leave this run?');
    pass();
    await terminal.type(KEYS.ctrlC);
    await shown;
    await terminal.until(`resume with: lifeboat resume ${RUN_ID}`);
    expect(terminal.screen()).not.toContain('question');
  });

  it.each([
    ['in one piece', ['\u001b[200~half of a text']],
    ['in pieces', ['\u001b[20', '0~half', ' of a text', 'more']],
    ['after a whole one', ['\u001b[200~whole\u001b[201~', '\u001b[200~half']],
  ])('handles Ctrl-C although the end of a paste was lost that arrived %s', async (_, pieces) => {
    const { terminal, run, shown, pass } = await open(VIEWS.choice);
    await terminal.type(...pieces, KEYS.enter, KEYS.ctrlC);
    await terminal.until('leave this run?');
    pass();
    await terminal.type(KEYS.ctrlC);
    await shown;
    expect(run.answers).toEqual([]);
  });

  it('keeps a finished run on the screen until it is closed, and then sums it up', async () => {
    const { terminal, run, shown, pass } = await open(VIEWS.task);
    run.show(VIEWS.outcome);
    run.finish({ how: 'ended', exitCode: 0 });
    await terminal.until('the key of orders is rotated and proven');
    pass();
    await terminal.type(KEYS.enter);
    expect(await shown).toEqual({ how: 'ended', exitCode: 0 });
    await terminal.until('proven: the key of orders is rotated and proven');
    expect(run.calls).toEqual([]);
    expect(terminal.isAlternate()).toBe(false);
  });

  it('leaves the whole drill with Ctrl-C at the end of one of its runs, and continues it with Enter', async () => {
    const chapter = { number: 1, of: 3 };
    const drill: RunView = { ...VIEWS.outcome, mode: 'REHEARSAL', chapter };
    const closedBy = async (key: string, view: RunView) => {
      const { terminal, run, shown, pass } = await open(VIEWS.task);
      run.show(view);
      run.finish({ how: 'ended', exitCode: 0 });
      await terminal.until('the key of orders is rotated and proven');
      pass();
      await terminal.type(key);
      const { exitCode } = await shown;
      await terminal.until('proven: the key of orders is rotated and proven');
      return exitCode;
    };
    expect(await closedBy(KEYS.ctrlC, drill)).toBe(130);
    expect(await closedBy(KEYS.enter, drill)).toBe(0);
    expect(await closedBy(KEYS.ctrlC, VIEWS.outcome)).toBe(0);
  });

  it('ends when the run ends by itself', async () => {
    const { terminal, run, shown } = await open(VIEWS.paused);
    run.finish({ how: 'paused', exitCode: 4 });
    expect(await shown).toEqual({ how: 'paused', exitCode: 4 });
    await terminal.until('paused: the run waits for credentials');
  });

  it('gives the chosen answer to the run and shows what the run says next', async () => {
    const { terminal, run } = await open(VIEWS.choice);
    await terminal.until('Set the new key');
    await terminal.type(KEYS.enter);
    await expect.poll(() => run.answers).toEqual([{ event: 'SET' }]);
    run.show(VIEWS.bytes);
    await terminal.until('45 %');
  });

  it('shows why an answer was refused, with its hints', async () => {
    const { terminal, run } = await open(VIEWS.choice);
    run.refuse(new LifeboatError('run.late', 'the run has moved on', { hints: ['look again'] }));
    await terminal.until('Set the new key');
    await terminal.type(KEYS.enter);
    await terminal.until('the run has moved on');
    expect(terminal.screen()).toContain('hint: look again');
    expect(run.answers).toEqual([]);
  });

  it('gives an answer only to the question it was meant for', async () => {
    const { terminal, run } = await open(VIEWS.choice);
    const later = asking({ ...CHOICE, prompt: 'Delete the old key?' });
    // The run has moved on, but no listener has heard of it yet.
    run.view = () => later;
    await terminal.type(KEYS.enter);
    await terminal.until('Delete the old key?');
    expect(run.answers).toEqual([]);
  });

  it('confirms a name only when it was typed, never by a paste alone', async () => {
    const { terminal, run } = await open(asking(TYPED_NAME));
    await terminal.until('to confirm, type orders-dr');
    await terminal.type(KEYS.enter);
    await terminal.until('nothing was typed');
    await terminal.paste('orders-dr\n');
    await terminal.until('❯ orders-dr');
    expect(run.answers).toEqual([]);
    await terminal.type(KEYS.enter);
    await expect.poll(() => run.answers).toEqual([{ event: 'CONFIRM', typed: 'orders-dr' }]);
  });

  it('treats characters that arrive together as text, and never submits them', async () => {
    const { terminal, run } = await open(asking(TYPED_NAME));
    await terminal.until('to confirm, type orders-dr');
    await terminal.type('orders-dr\r');
    await terminal.until('❯ orders-dr');
    expect(run.answers).toEqual([]);
  });

  it('never treats a paste as keys', async () => {
    const { terminal, run } = await open(VIEWS.choice);
    await terminal.until('Set the new key');
    await terminal.paste('\r');
    await terminal.paste('q\r');
    await terminal.type('\r\r');
    await terminal.type('?');
    await terminal.until('help');
    expect(run.answers).toEqual([]);
  });

  it('never writes a secret to the terminal', async () => {
    const secret = 'Tr0ub4dor&3-horse';
    const { terminal, run } = await open(asking(SECRET));
    await terminal.until('at least 12 characters');
    for (const character of secret) await terminal.type(character);
    await terminal.until('long enough');
    await terminal.type(KEYS.enter);
    await terminal.until('once more');
    await terminal.paste(`${secret}\n`);
    await terminal.until('long enough');
    await terminal.type(KEYS.enter);
    await expect.poll(() => run.answers[0]?.secret?.reveal()).toBe(secret);
    const fragments = Array.from({ length: secret.length - 3 }, (_, at) => secret.slice(at, at + 4));
    for (const fragment of fragments) expect(terminal.bytes()).not.toContain(fragment);
  });

  it('shows only the length and the kind of a secret', async () => {
    const seen = async (text: string) => {
      const { terminal } = await open(asking({ ...SECRET, minLength: 0 }));
      await terminal.until('hidden:');
      await terminal.paste(text);
      await terminal.until('••••••••');
      return terminal.screen();
    };
    expect(await seen('Tr0ub4dor&3')).toBe(await seen('Zq7ix9wfs!8'));
  });

  it('draws everything again when the window changes', async () => {
    const { terminal } = await open(VIEWS.choice);
    await terminal.until('Set the new key');
    for (const [columns, rows] of [
      [100, 30],
      [60, 20],
      [160, 50],
      [30, 8],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      const fits = (screen: string) => {
        const lines = screen.split('\n');
        return (
          lines.length === rows &&
          lines[0]?.includes('REHEARSAL') === true &&
          columns - (lines[0]?.length ?? 0) < 30
        );
      };
      await terminal.until(fits);
      if (columns >= 40)
        await terminal.until((screen) => /Enter choose .*[─]$/u.test(screen.split('\n').at(-1) ?? ''));
    }
    await terminal.until('set it (recommended)');
  });

  it('leaves no remains on the screen when a window gets narrower and higher at once', async () => {
    const { terminal } = await open(VIEWS.task);
    for (const [columns, rows] of [
      [40, 12],
      [39, 20],
      [100, 20],
      [60, 45],
    ] as const) {
      terminal.resize(columns, rows);
      await terminal.until((screen) => screen.split('\n').length === rows);
      const fresh = await open(VIEWS.task, createFakeTerminal(columns, rows));
      await fresh.terminal.until((screen) => screen.includes('REHEARSAL'));
      const wanted = await fresh.terminal.screen();
      await terminal.until((screen) => screen === wanted);
    }
  });

  it('takes no answer to a question that the window is too small to show', async () => {
    const terminal = createFakeTerminal(30, 8);
    const { run } = await open(VIEWS.choice, terminal);
    await terminal.until('too small');
    await terminal.type(KEYS.enter);
    terminal.resize(80, 24);
    await terminal.until('Set the new key');
    expect(run.answers).toEqual([]);
  });

  it('detaches when the terminal goes away, and writes nothing more', async () => {
    const { terminal, run, shown } = await open(VIEWS.task);
    terminal.hangUp();
    expect((await shown).how).toBe('detached');
    expect(run.calls).toEqual(['detach']);
    expect(run.reasons).toEqual(['the terminal was lost']);
    expect(terminal.bytes()).not.toContain('resume with');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('detaches on %s', async (signal) => {
    const before = process.listenerCount(signal);
    const { terminal, run, shown } = await open(VIEWS.task);
    process.kill(process.pid, signal);
    expect((await shown).how).toBe('detached');
    expect(run.calls).toEqual(['detach']);
    expect(run.reasons).toEqual([`the process received ${signal}`]);
    expect(terminal.isAlternate()).toBe(false);
    expect(process.listenerCount(signal)).toBe(before);
  });

  it('says before and after leaving that the run cannot be resumed, where that is the case', async () => {
    const gone = 'its lab ends with the drill: the run cannot be resumed; journal: /var/drill/lifeboat.db';
    const { terminal, run, shown, pass } = await open({ ...VIEWS.task, gone });
    await terminal.type('q');
    await terminal.until('leave this run?');
    await terminal.until('cannot be resumed');
    pass();
    await terminal.type(KEYS.down, KEYS.enter);
    await shown;
    expect(run.reasons).toEqual(['the operator left']);
    await terminal.until('left: the run ends here');
    expect(terminal.bytes()).not.toMatch(/lifeboat resume|resume with/);
  });

  it('restores the terminal and keeps the run when the screen itself breaks', async () => {
    const { terminal, run, shown } = await open(VIEWS.choice);
    const broken = { ...VIEWS.choice, facts: undefined } as unknown as RunView;
    run.show(broken);
    await expect(shown).rejects.toThrow(/undefined/u);
    expect(terminal.isAlternate()).toBe(false);
    expect(terminal.isRaw()).toBe(false);
    expect(run.calls).toEqual(['detach']);
  });

  it('wakes a paused run', async () => {
    const { terminal, run } = await open(VIEWS.paused);
    await terminal.until('try again');
    await terminal.type('r');
    await expect.poll(() => run.calls).toEqual(['wake']);
  });

  it('reads the view of a busy run no more often than it draws', async () => {
    const { run } = await open(VIEWS.bytes);
    let looks = 0;
    const { view } = run;
    run.view = () => {
      looks += 1;
      return view();
    };
    for (let at = 0; at < 1000; at += 1) run.show(VIEWS.bytes);
    expect(looks).toBeLessThan(5);
  });
});

describe('the first frame', () => {
  it('has the header where the full screen will have it, on the alternate screen', async () => {
    const terminal: FakeTerminal = createFakeTerminal();
    const { columns = 80, rows = 24 } = terminal.streams.stdout;
    terminal.streams.stdout.write(
      firstFrame({ columns, rows, env: { LANG: 'C.UTF-8' }, ...VIEWS.typedName }),
    );
    await terminal.until('starting');
    const before = terminal.rows()[0];
    expect(terminal.isAlternate()).toBe(true);
    const { terminal: after } = await open(VIEWS.typedName, terminal);
    await after.until('confirmation');
    expect(after.rows()[0]).toBe(before);
    expect(after.screen()).not.toContain('starting');
  });

  it('contains no control character of a hostile name', () => {
    const frame = firstFrame({
      columns: 80,
      rows: 24,
      env: {},
      ...VIEWS.choice,
      instance: 'a\u001b]8;;x\u0007b\u009b31m\u202e',
    });
    expect(frame).not.toMatch(/\u001b\]|\u0007|\u009b|\u202e/u);
  });
});
