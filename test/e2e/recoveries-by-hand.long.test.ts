import { describe, type ExpectStatic, type TestContext, test } from 'vitest';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { answerIn } from '../bench-kit/results.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

/**
 * What a person does who sees a runbook for the first time, key by key, at a real terminal, on real
 * databases.
 */
describe.skipIf(!hasTerminal())('a recovery by hand, in a real terminal', () => {
  const labs = useLabs();

  async function sitDown(context: TestContext) {
    const bench = await labs(context);
    const open = (...args: string[]) => {
      const terminal = openTerminal(bench.product, bench, args);
      context.onTestFinished(() => terminal.close());
      return responder(personAt(terminal, context.expect), context.expect);
    };
    return { ...bench, open };
  }

  test('back to a point in time: chosen with arrows and words, confirmed by name, rebound and closed', async (context) => {
    const { expect } = context;
    const bench = await sitDown(context);
    await hasPast(bench, expect);
    const screen = bench.open('run', 'restore-point-in-time', '--instance', 'orders');
    await screen.asks('which moment do you bring the data of orders back to?');
    await screen.shows(/the latest possible/u);
    // What is typed is only read, whether it makes sense, lies outside of the range or fits.
    await screen.enter('some time ago');
    await screen.shows('is not a time that can be read');
    await screen.clear();
    await screen.enter('2001-01-01 00:00 UTC');
    await screen.shows('before the earliest');
    await screen.clear();
    // The range that the screen shows stays as it was read, however long the typing takes.
    const [, latest = ''] = /latest +(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/u.exec(screen.text()) ?? [];
    const wanted = new Date(Date.parse(`${latest}Z`) - 1_000).toISOString();
    await screen.enter(`${wanted.slice(0, 10)} ${wanted.slice(11, 19)} UTC`);
    await screen.shows(`${wanted.slice(11, 19)} UTC`);
    await screen.asks('left/right 1 minute');
    screen.type(KEYS.down);
    await screen.shows('left/right 1 second');
    screen.type(LEFT);
    const chosen = new Date(Date.parse(wanted) - 1_000).toISOString();
    await screen.shows(new RegExp(`❯.*${chosen.slice(11, 19)}`, 'u'));
    expect(bench.did()).not.toContain('orders POST /pitr/restore');
    screen.type(KEYS.enter);
    await screen.asks('back it up first?');
    screen.type(KEYS.enter);
    const shown = `${chosen.slice(0, 10)} ${chosen.slice(11, 19)} UTC`;
    await screen.asks(`to bring orders back to ${shown}`);
    expect(bench.did()).not.toContain('orders POST /pitr/restore');
    await screen.name('orders');
    await screen.asks(/let the platform rebind them/u);
    expect(screen.text()).toContain('unbind, bind and restage orders-api');
    screen.type(KEYS.enter);
    await screen.later('orders is restored, and no follow-up is open');
    await screen.close(0);
    expect(bench.did().filter((call) => call === 'orders POST /pitr/restore')).toHaveLength(1);
    const report = await bench.good('report', await onlyRun(bench));
    expect(report).toContain(`| Restored from | ${shown} |`);
  });

  test('into another instance while the source is gone: only the name of the target counts', async (context) => {
    const { expect } = context;
    const bench = await sitDown(context);
    await bench.good('run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes');
    await bench.lab.disaster('orders', true);
    const screen = bench.open(
      ...['run', 'disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform'],
    );
    await screen.asks('which backup of orders do you want to recover?');
    screen.type(KEYS.enter);
    await screen.asks('which key was the backup made with?');
    screen.type(KEYS.enter);
    await screen.asks('type the name of the TARGET');
    await screen.enter('orders');
    await screen.shows('that is not the name: nothing happens');
    expect(bench.did().filter((call) => call.includes('/perform'))).toEqual([]);
    await screen.clear();
    await screen.name('orders-dr');
    await screen.asks(/follow-ups? open: the run closes when each is done/u);
    expect(bench.did().filter((call) => call.includes('/perform'))).toEqual([
      'orders-dr POST /disaster-recovery/perform',
    ]);
    screen.type(KEYS.escape);
    await screen.asks('leave this run?');
    screen.type(KEYS.down);
    await screen.shows('❯ leave');
    screen.type(KEYS.enter);
    await screen.isGivenBack(130);
    expect(screen.text()).toMatch(/\d+ open follow-ups?; list them with: lifeboat followups list/u);
  });

  test('the follow-ups: one by hand with a proof, one skipped with a reason, the rest by the platform', async (context) => {
    const { expect } = context;
    const bench = await sitDown(context);
    const screen = bench.open('run', 'restore-backup', '--instance', 'orders', '--backup', '1');
    await screen.asks('back it up first?');
    screen.type(KEYS.enter);
    await screen.asks("type the instance's name");
    await screen.name('orders');
    await screen.asks('let the platform rebind them');
    await screen.climbTo(/❯ unbind, bind and restage orders-api/u);
    screen.type(KEYS.enter);
    await screen.asks('how is it closed?');
    expect(screen.text()).toMatch(/^cf restage orders-api --strategy rolling$/mu);
    await screen.way('it was done by hand');
    await screen.enter('restaged by the night shift');
    await screen.asks('let the platform rebind them');
    await screen.climbTo(/❯ recreate service key ops/u);
    screen.type(KEYS.enter);
    await screen.asks('how is it closed?');
    await screen.way('skip it');
    await screen.enter('nobody uses it');
    await screen.asks('let the platform rebind them');
    screen.type(KEYS.enter);
    await screen.later('closed without proof');
    // Without the recreated key this is no recovery, and the screen says so first.
    expect(screen.text()).toMatch(
      /✗ NOT PROVEN.*closed without proof: orders is restored, but 1 service key/su,
    );
    expect(screen.text()).toMatch(/not done: .*nobody uses it/su);
    await screen.close(1);
    const report = await bench.good('report', await onlyRun(bench));
    expect(report).toContain('restaged by the night shift');
    expect(report).toContain('nobody uses it');
    expect(await bench.run('followups')).toMatchObject({ code: 0, stdout: '' });
  });
});

const LEFT = '\u001b[D';
const UP = '\u001b[A';

/** Waits until there is a moment to go back to. */
async function hasPast({ good }: LabBench, expect: ExpectStatic): Promise<void> {
  const seconds = async () => {
    const range = answerIn(await good('pitr', 'show', '--instance', 'orders', '--json'));
    return (Date.parse(range.end_time) - Date.parse(range.start_time)) / 1000;
  };
  await expect.poll(seconds, { timeout: 600_000, interval: 250 }).toBeGreaterThan(15);
}

async function onlyRun({ good }: LabBench): Promise<string> {
  return /\b[0-9A-Z]{26}\b/u.exec(await good('runs'))?.[0] ?? '';
}

/** A person who takes care of every key. */
function responder(person: ReturnType<typeof personAt>, expect: ExpectStatic) {
  // A clock on the screen moves by itself: only the row that the arrow stands on tells that a key was taken.
  const chosen = () => /^.*❯.*$/mu.exec(person.text())?.[0];
  const press = async (key: string) => {
    const before = chosen();
    person.type(key);
    await expect.poll(chosen, { timeout: 100_000 }).not.toBe(before);
  };
  return {
    ...person,
    enter: async (words: string) => {
      person.type(words);
      await person.shows(new RegExp(`[❯:] ${words}`, 'u'));
      person.type(KEYS.enter);
    },
    clear: async () => {
      person.type(KEYS.clear);
      await person.asks(/❯|reads it:\s*$/u);
    },
    name: async (name: string) => {
      person.type(name);
      await person.shows(`❯ ${name}`);
      person.type(KEYS.enter);
    },
    climbTo: async (row: RegExp) => {
      for (let presses = 0; presses < 12 && !row.test(person.text()); presses += 1) await press(UP);
      await person.shows(row);
    },
    way: async (label: string) => {
      for (let presses = 0; presses < 3 && !person.text().includes(`❯ ${label}`); presses += 1)
        await press(KEYS.down);
      await person.shows(`❯ ${label}`);
      person.type(KEYS.enter);
      await person.shows(/Enter confirm {2}Esc back/u);
    },
    later: async (wanted: string) => {
      await expect.poll(() => person.text(), { timeout: 600_000 }).toContain(wanted);
      await person.asks(wanted);
    },
    close: async (exitCode: number) => {
      person.type(KEYS.enter);
      await person.isGivenBack(exitCode);
    },
  };
}
