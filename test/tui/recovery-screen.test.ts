import { afterEach, describe, expect, it, vi } from 'vitest';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import { showRun } from '../../src/tui/show-run.ts';
import type { RunEnd } from '../../src/view/run-port.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { OPEN_FOLLOW_UPS } from './fake-recovery.ts';
import { createFakeRun, type FakeRun } from './fake-run.ts';
import { createFakeTerminal, KEYS } from './fake-terminal.ts';
import { VIEWS } from './fake-views.ts';
import { look, textIn } from './shown.ts';

const running: { run: FakeRun; shown: Promise<RunEnd> }[] = [];

async function open(view: RunView, columns = 80, rows = 24) {
  const terminal = createFakeTerminal(columns, rows);
  const run = createFakeRun(view);
  let now = 0;
  // Each look at the clock is well past the time in which a question just shown ignores keys.
  const shown = showRun(run, terminal.streams, { now: () => (now += 1000) });
  running.push({ run, shown });
  await terminal.until((screen) => screen.includes(view.instance));
  return { terminal, run };
}

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const { run, shown } of running.splice(0)) {
    await run.detach();
    await shown;
  }
});

const SIZES = [
  [40, 12],
  [80, 24],
  [100, 30],
  [160, 50],
] as const;

function textAt(
  view: RunView,
  columns: number,
  rows: number,
  overlay: 'none' | 'help' | 'fallback' = 'none',
) {
  return textIn(layOut({ ...firstState(view, 0), overlay }, { columns, rows }, look));
}

describe.each(SIZES)('at %i x %i', (columns, rows) => {
  it('the moment is always shown in both zones, together with the other answer', () => {
    vi.stubEnv('TZ', 'Asia/Kolkata');
    const text = textAt(VIEWS.time, columns, rows);
    expect(text).toContain('2026-11-21 08:30:00 +05:30');
    expect(text).toContain('2026-11-21 03:00:00 UTC');
    expect(text).toContain('stop the run');
  });

  it('the moment is shown once where the clock of the machine is set to UTC', () => {
    vi.stubEnv('TZ', 'UTC');
    const text = textAt(VIEWS.time, columns, rows);
    expect(text).toContain('2026-11-21 03:00:00 UTC');
    expect(text).not.toContain('+00:00');
  });

  it.each(['none', 'help', 'fallback'] as const)(
    'the open follow-ups and the clock against the objectives are shown with %s over the run',
    (overlay) => {
      const text = textAt(VIEWS.restaging, columns, rows, overlay);
      expect(text).toContain('3 follow-ups');
      expect(text).toMatch(/RTO ! 0:28:04/u);
      expect(text).toMatch(/RPO ✓ 12 min/u);
    },
  );

  it('the follow-up under the cursor is shown', () => {
    expect(textAt(VIEWS.openFollowUps, columns, rows)).toMatch(/❯ unbind, bind and\S*/u);
  });
});

describe('a moment', () => {
  it('is typed, read into the picker and taken, with the parser of the product', async () => {
    const { terminal, run } = await open(VIEWS.time);
    await terminal.until('point in time');
    await terminal.type(...'2026-11-21 02:30 UTC', KEYS.enter);
    await terminal.until('2026-11-21 02:30:00 UTC');
    expect(run.answers).toEqual([]);
    await terminal.type(KEYS.enter);
    await expect
      .poll(() => run.answers)
      .toEqual([{ event: 'operator.time', time: '2026-11-21T02:30:00.000Z' }]);
  });

  it('outside the range is refused with the edge that it misses', async () => {
    const { terminal, run } = await open(VIEWS.time, 120, 40);
    await terminal.until('point in time');
    await terminal.type(...'2026-11-19 02:30 UTC', KEYS.enter);
    await terminal.until('before the earliest');
    expect(terminal.screen()).toContain('2026-11-20 02:00:07 UTC');
    await terminal.type(KEYS.enter);
    expect(run.answers).toEqual([]);
  });

  it('says how long ago it is and what is lost', async () => {
    const { terminal } = await open(VIEWS.time);
    await terminal.until('12 min 45 s ago: what was written since is lost; 10 min before');
  });

  it('is moved by the arrows, and the footer says by how much', async () => {
    const { terminal } = await open(VIEWS.time);
    await terminal.until('left/right 1 minute');
    await terminal.type('\u001b[D');
    await terminal.until('02:59:00 UTC');
    await terminal.type(KEYS.up);
    await terminal.until('left/right 1 hour');
    await terminal.type('\u001b[H');
    await terminal.until((screen) => screen.split('2026-11-20 02:00:07 UTC').length === 3);
  });
});

describe('a follow-up', () => {
  it('has each command on rows of its own from the first column, exact to the space, and nothing beside it', async () => {
    const { terminal } = await open(VIEWS.openFollowUps, 160, 50);
    await terminal.until('The data is restored');
    await terminal.type(KEYS.enter);
    await terminal.until('how is it closed?');
    for (const command of OPEN_FOLLOW_UPS[0]?.commands ?? []) expect(terminal.rows()).toContain(command);
  });

  it('breaks a command that does not fit at a space, as a shell continues it, and loses nothing of it', async () => {
    const { terminal } = await open(VIEWS.openFollowUps);
    await terminal.until('The data is restored');
    await terminal.type(KEYS.enter);
    await terminal.until('how is it closed?');
    const at = terminal.rows().findIndex((row) => row.startsWith('cf bind-service'));
    const [first = '', second = ''] = terminal.rows().slice(at);
    expect(second).toMatch(/^ {4}\S/u);
    expect(first).toMatch(/ \\$/u);
    expect(`${first.slice(0, -1)}${second.trimStart()}`).toBe(OPEN_FOLLOW_UPS[0]?.commands[1]);
  });

  it('says in words what is overdue', async () => {
    const { terminal } = await open(VIEWS.openFollowUps);
    await terminal.until('! overdue by 3m');
  });
});

describe('the fallback script', () => {
  it('opens while something runs, follows the run, scrolls to its end and closes with Escape', async () => {
    const { terminal, run } = await open(VIEWS.task);
    await terminal.type('s');
    await terminal.until('# kept at /srv/lifeboat/fallback/run.sh');
    run.fallback = () => '# the rest is shorter now\necho end';
    run.show(VIEWS.bytes);
    await terminal.until('the rest is shorter now');
    await terminal.type(KEYS.escape);
    await terminal.until('45 %');
    expect(terminal.screen()).not.toContain('fallback script');
  });

  it('says why it cannot be written, and the run continues', async () => {
    const { terminal, run } = await open(VIEWS.choice);
    run.fallback = () => {
      throw new Error('no such step');
    };
    await terminal.type('s');
    await terminal.until('the fallback script cannot be written now');
    await terminal.type(KEYS.escape);
    await terminal.until('Set the new key');
  });
});
