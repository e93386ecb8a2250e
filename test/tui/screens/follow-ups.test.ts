import { describe, expect, test } from 'vitest';
import { followUpsScreen } from '../../../src/tui/screens/followups/followups.ts';
import { type FollowUpRow, mostUrgent } from '../../../src/view/view-follow-ups.ts';
import { fact, factsOf, opened, press, SIZE, SIZES } from '../fake-fleet.ts';

const row = (id: string, given: Partial<FollowUpRow> = {}): FollowUpRow => ({
  ...{
    id,
    kind: 'rebind',
    what: `${id} has to be done`,
    subject: 'shop',
    owner: 'ada',
    age: 600,
    left: undefined,
  },
  ...{ commands: [`cf do-${id}`], doable: undefined, closed: undefined },
  ...{ instance: 'orders', run: undefined, runbook: undefined },
  ...given,
});
const LEDGER = row('retire key a', { kind: 'retire-key', owner: '' });
const OF_RUN = row('rebind-shop', { run: '01RUN0000000', runbook: 'restore-backup', left: -60 });

const screenOf = (...rows: readonly FollowUpRow[]) =>
  opened(followUpsScreen(), factsOf({ followUps: fact(mostUrgent(rows)) }));

describe('the screen of follow-ups', () => {
  test('lists those of runs and of ledgers, the overdue ones first', () => {
    const { at } = screenOf(LEDGER, OF_RUN);
    const text = at({ columns: 120, rows: 24 }).join('\n');
    expect(text).toMatch(
      /❯ +rebind-shop .*orders +overdue by 1m +10m.*01RUN00000[\s\S]*retire key a .*in its ledger/u,
    );
    expect(text).toContain('run 01RUN0000000 (restore-backup) stays open until it is closed');
    expect(text).toContain('cf do-rebind-shop');
  });

  test.each(SIZES)('fills $columns x $rows exactly, with a list and with a field', (size) => {
    const { screen, at } = screenOf(...Array.from({ length: 90 }, (_, n) => row(`${n}${'long '.repeat(n)}`)));
    at(size);
    press(screen, 'd', 'x');
    at(size);
  });

  test('Enter goes to the run that can do it, and for one in a ledger says how it is closed', () => {
    const { screen, at, effects } = screenOf(LEDGER, OF_RUN);
    at(SIZE);
    press(screen, 'enter', 'down', 'enter');
    expect(effects).toEqual([
      { type: 'resume', runId: '01RUN0000000' },
      { type: 'say', text: 'its run is over: d closes it with a proof, x skips it' },
    ]);
  });

  test('closes one with a proof, addressed by an unambiguous id', () => {
    const { screen, at, effects } = screenOf(LEDGER);
    at(SIZE);
    press(screen, 'd');
    expect(at(SIZE).join('\n')).toContain('what shows that it was done?');
    press(screen, 'o', 'k', 'enter');
    expect(effects).toEqual([
      {
        type: 'errand',
        errand: { do: 'close-follow-up', id: 'orders:retire key a', how: 'done', text: 'ok' },
      },
    ]);
    expect(at(SIZE).join('\n')).not.toContain('what shows');
  });

  test('the cursor moves to the next one when one is closed', () => {
    const { screen, at } = screenOf(OF_RUN, LEDGER);
    at(SIZE);
    press(screen, 'd', 'o', 'k', 'enter');
    expect(at(SIZE).join('\n')).toContain('❯ retire key a');
  });

  test('does one where something here can do it', () => {
    const { screen, at, effects } = screenOf({ ...OF_RUN, doable: 'platform' }, LEDGER);
    at(SIZE);
    press(screen, 'p', 'down', 'p');
    expect(effects).toEqual([
      { type: 'errand', errand: { do: 'follow-up', id: '01RUN0000000:rebind-shop' } },
      { type: 'say', text: 'nothing here can do it: d closes it with a proof' },
    ]);
  });

  test('says before the last one is closed what its run does by itself afterwards', () => {
    const fresh = row('fresh-backup', {
      kind: 'fresh-backup',
      run: OF_RUN.run,
      what: 'back up orders',
      doable: 'run',
    });
    const target = row('remove-target', { kind: 'remove-target', run: OF_RUN.run });
    const words = 'with this one closed, its run goes on by itself: back up orders';
    const told = (...rows: readonly FollowUpRow[]) => {
      const { screen, at } = screenOf(OF_RUN, ...rows);
      const before = at(SIZE).join(' ').replaceAll(/\s+/gu, ' ');
      press(screen, 'd');
      return [before, at(SIZE).join(' ').replaceAll(/\s+/gu, ' ')];
    };
    for (const text of told(fresh, target)) expect(text).toContain(words);
    const another = row('rebind-report', { run: OF_RUN.run });
    for (const text of told(fresh, another)) expect(text).not.toContain('by itself');
    for (const text of told({ ...fresh, run: '01OTHER' })) expect(text).not.toContain('by itself');
  });

  test('skips none without a reason, and Escape leaves it open', () => {
    const { screen, at, effects } = screenOf(OF_RUN);
    at(SIZE);
    press(screen, 'x', 'enter', 'n', 'o', 'enter', 'escape');
    expect(effects).toEqual([
      { type: 'say', text: 'type a reason first' },
      { type: 'say', text: '"no" is no reason: write why, in a few words' },
    ]);
    press(screen, 'x', 'g', 'o', 'n', 'e', 'enter');
    expect(effects.at(-1)).toMatchObject({
      errand: { id: '01RUN0000000:rebind-shop', how: 'skip', text: 'gone' },
    });
  });

  test('says when there is none', () => {
    expect(screenOf().at(SIZE).join('\n')).toContain('there are no open follow-ups');
  });
});
